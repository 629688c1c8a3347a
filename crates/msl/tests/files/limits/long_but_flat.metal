// test check
// Labels in a row, operators of one level and `else if` are no nesting.
int labels(int x) {
  switch (x) {
    case 0: case 1: case 2: case 3: case 4: case 5: case 6: case 7: case 8: case 9: case 10: case 11: case 12: case 13: case 14: case 15:
    case 16: case 17: case 18: case 19: case 20: case 21: case 22: case 23: case 24: case 25: case 26: case 27: case 28: case 29: case 30: case 31:
    case 32: case 33: case 34: case 35: case 36: case 37: case 38: case 39: case 40: case 41: case 42: case 43: case 44: case 45: case 46: case 47:
    case 48: case 49: case 50: case 51: case 52: case 53: case 54: case 55: case 56: case 57: case 58: case 59: case 60: case 61: case 62: case 63:
    case 64: case 65: case 66: case 67: case 68: case 69: case 70: case 71: case 72: case 73: case 74: case 75: case 76: case 77: case 78: case 79:
    case 80: case 81: case 82: case 83: case 84: case 85: case 86: case 87: case 88: case 89: case 90: case 91: case 92: case 93: case 94: case 95:
    case 96: case 97: case 98: case 99: case 100: case 101: case 102: case 103: case 104: case 105: case 106: case 107: case 108: case 109: case 110: case 111:
    case 112: case 113: case 114: case 115: case 116: case 117: case 118: case 119: case 120: case 121: case 122: case 123: case 124: case 125: case 126: case 127:
    case 128: case 129: case 130: case 131: case 132: case 133: case 134: case 135: case 136: case 137: case 138: case 139: case 140: case 141: case 142: case 143:
    case 144: case 145: case 146: case 147: case 148: case 149: case 150: case 151: case 152: case 153: case 154: case 155: case 156: case 157: case 158: case 159:
    case 160: case 161: case 162: case 163: case 164: case 165: case 166: case 167: case 168: case 169: case 170: case 171: case 172: case 173: case 174: case 175:
    case 176: case 177: case 178: case 179: case 180: case 181: case 182: case 183: case 184: case 185: case 186: case 187: case 188: case 189: case 190: case 191:
    case 192: case 193: case 194: case 195: case 196: case 197: case 198: case 199: case 200: case 201: case 202: case 203: case 204: case 205: case 206: case 207:
    case 208: case 209: case 210: case 211: case 212: case 213: case 214: case 215: case 216: case 217: case 218: case 219: case 220: case 221: case 222: case 223:
    case 224: case 225: case 226: case 227: case 228: case 229: case 230: case 231: case 232: case 233: case 234: case 235: case 236: case 237: case 238: case 239:
    case 240: case 241: case 242: case 243: case 244: case 245: case 246: case 247: case 248: case 249: case 250: case 251: case 252: case 253: case 254: case 255:
    case 256: case 257: case 258: case 259: case 260: case 261: case 262: case 263: case 264: case 265: case 266: case 267: case 268: case 269: case 270: case 271:
    case 272: case 273: case 274: case 275: case 276: case 277: case 278: case 279: case 280: case 281: case 282: case 283: case 284: case 285: case 286: case 287:
    case 288: case 289: case 290: case 291: case 292: case 293: case 294: case 295: case 296: case 297: case 298: case 299: case 300: case 301: case 302: case 303:
    case 304: case 305: case 306: case 307: case 308: case 309: case 310: case 311: case 312: case 313: case 314: case 315: case 316: case 317: case 318: case 319:
    case 320: case 321: case 322: case 323: case 324: case 325: case 326: case 327: case 328: case 329: case 330: case 331: case 332: case 333: case 334: case 335:
    case 336: case 337: case 338: case 339: case 340: case 341: case 342: case 343: case 344: case 345: case 346: case 347: case 348: case 349: case 350: case 351:
    case 352: case 353: case 354: case 355: case 356: case 357: case 358: case 359: case 360: case 361: case 362: case 363: case 364: case 365: case 366: case 367:
    case 368: case 369: case 370: case 371: case 372: case 373: case 374: case 375: case 376: case 377: case 378: case 379: case 380: case 381: case 382: case 383:
    case 384: case 385: case 386: case 387: case 388: case 389: case 390: case 391: case 392: case 393: case 394: case 395: case 396: case 397: case 398: case 399:
    default: return 1;
    case 400 ... 500: return 2;
  }
}
int operands(int x) {
  return
    x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x +
    x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x +
    x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x +
    x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x +
    x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x +
    x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x +
    x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x +
    x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x +
    x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x +
    x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x +
    x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x +
    x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x +
    x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x +
    x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x +
    x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x +
    x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x +
    x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x +
    x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x +
    x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x +
    x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x +
    x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x +
    x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x +
    x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x +
    x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x +
    x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x +
    x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x +
    x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x +
    x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x +
    x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x +
    x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x +
    x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x +
    x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x +
    x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x +
    x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x +
    x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x +
    x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x +
    x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x +
    x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x +
    x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x +
    x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x +
    x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x +
    x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x +
    x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x +
    x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x +
    x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x +
    x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x +
    x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x +
    x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x +
    x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x +
    x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x;
}
int branches(int x) {
  if (x == 0) return 0;
  else if (x == 1) return 7;
  else if (x == 2) return 3;
  else if (x == 3) return 10;
  else if (x == 4) return 6;
  else if (x == 5) return 2;
  else if (x == 6) return 9;
  else if (x == 7) return 5;
  else if (x == 8) return 1;
  else if (x == 9) return 8;
  else if (x == 10) return 4;
  else if (x == 11) return 0;
  else if (x == 12) return 7;
  else if (x == 13) return 3;
  else if (x == 14) return 10;
  else if (x == 15) return 6;
  else if (x == 16) return 2;
  else if (x == 17) return 9;
  else if (x == 18) return 5;
  else if (x == 19) return 1;
  else if (x == 20) return 8;
  else if (x == 21) return 4;
  else if (x == 22) return 0;
  else if (x == 23) return 7;
  else if (x == 24) return 3;
  else if (x == 25) return 10;
  else if (x == 26) return 6;
  else if (x == 27) return 2;
  else if (x == 28) return 9;
  else if (x == 29) return 5;
  else if (x == 30) return 1;
  else if (x == 31) return 8;
  else if (x == 32) return 4;
  else if (x == 33) return 0;
  else if (x == 34) return 7;
  else if (x == 35) return 3;
  else if (x == 36) return 10;
  else if (x == 37) return 6;
  else if (x == 38) return 2;
  else if (x == 39) return 9;
  else if (x == 40) return 5;
  else if (x == 41) return 1;
  else if (x == 42) return 8;
  else if (x == 43) return 4;
  else if (x == 44) return 0;
  else if (x == 45) return 7;
  else if (x == 46) return 3;
  else if (x == 47) return 10;
  else if (x == 48) return 6;
  else if (x == 49) return 2;
  else if (x == 50) return 9;
  else if (x == 51) return 5;
  else if (x == 52) return 1;
  else if (x == 53) return 8;
  else if (x == 54) return 4;
  else if (x == 55) return 0;
  else if (x == 56) return 7;
  else if (x == 57) return 3;
  else if (x == 58) return 10;
  else if (x == 59) return 6;
  else if (x == 60) return 2;
  else if (x == 61) return 9;
  else if (x == 62) return 5;
  else if (x == 63) return 1;
  else if (x == 64) return 8;
  else if (x == 65) return 4;
  else if (x == 66) return 0;
  else if (x == 67) return 7;
  else if (x == 68) return 3;
  else if (x == 69) return 10;
  else if (x == 70) return 6;
  else if (x == 71) return 2;
  else if (x == 72) return 9;
  else if (x == 73) return 5;
  else if (x == 74) return 1;
  else if (x == 75) return 8;
  else if (x == 76) return 4;
  else if (x == 77) return 0;
  else if (x == 78) return 7;
  else if (x == 79) return 3;
  else if (x == 80) return 10;
  else if (x == 81) return 6;
  else if (x == 82) return 2;
  else if (x == 83) return 9;
  else if (x == 84) return 5;
  else if (x == 85) return 1;
  else if (x == 86) return 8;
  else if (x == 87) return 4;
  else if (x == 88) return 0;
  else if (x == 89) return 7;
  else if (x == 90) return 3;
  else if (x == 91) return 10;
  else if (x == 92) return 6;
  else if (x == 93) return 2;
  else if (x == 94) return 9;
  else if (x == 95) return 5;
  else if (x == 96) return 1;
  else if (x == 97) return 8;
  else if (x == 98) return 4;
  else if (x == 99) return 0;
  else if (x == 100) return 7;
  else if (x == 101) return 3;
  else if (x == 102) return 10;
  else if (x == 103) return 6;
  else if (x == 104) return 2;
  else if (x == 105) return 9;
  else if (x == 106) return 5;
  else if (x == 107) return 1;
  else if (x == 108) return 8;
  else if (x == 109) return 4;
  else if (x == 110) return 0;
  else if (x == 111) return 7;
  else if (x == 112) return 3;
  else if (x == 113) return 10;
  else if (x == 114) return 6;
  else if (x == 115) return 2;
  else if (x == 116) return 9;
  else if (x == 117) return 5;
  else if (x == 118) return 1;
  else if (x == 119) return 8;
  else if (x == 120) return 4;
  else if (x == 121) return 0;
  else if (x == 122) return 7;
  else if (x == 123) return 3;
  else if (x == 124) return 10;
  else if (x == 125) return 6;
  else if (x == 126) return 2;
  else if (x == 127) return 9;
  else if (x == 128) return 5;
  else if (x == 129) return 1;
  else if (x == 130) return 8;
  else if (x == 131) return 4;
  else if (x == 132) return 0;
  else if (x == 133) return 7;
  else if (x == 134) return 3;
  else if (x == 135) return 10;
  else if (x == 136) return 6;
  else if (x == 137) return 2;
  else if (x == 138) return 9;
  else if (x == 139) return 5;
  else if (x == 140) return 1;
  else if (x == 141) return 8;
  else if (x == 142) return 4;
  else if (x == 143) return 0;
  else if (x == 144) return 7;
  else if (x == 145) return 3;
  else if (x == 146) return 10;
  else if (x == 147) return 6;
  else if (x == 148) return 2;
  else if (x == 149) return 9;
  else if (x == 150) return 5;
  else if (x == 151) return 1;
  else if (x == 152) return 8;
  else if (x == 153) return 4;
  else if (x == 154) return 0;
  else if (x == 155) return 7;
  else if (x == 156) return 3;
  else if (x == 157) return 10;
  else if (x == 158) return 6;
  else if (x == 159) return 2;
  else if (x == 160) return 9;
  else if (x == 161) return 5;
  else if (x == 162) return 1;
  else if (x == 163) return 8;
  else if (x == 164) return 4;
  else if (x == 165) return 0;
  else if (x == 166) return 7;
  else if (x == 167) return 3;
  else if (x == 168) return 10;
  else if (x == 169) return 6;
  else if (x == 170) return 2;
  else if (x == 171) return 9;
  else if (x == 172) return 5;
  else if (x == 173) return 1;
  else if (x == 174) return 8;
  else if (x == 175) return 4;
  else if (x == 176) return 0;
  else if (x == 177) return 7;
  else if (x == 178) return 3;
  else if (x == 179) return 10;
  else if (x == 180) return 6;
  else if (x == 181) return 2;
  else if (x == 182) return 9;
  else if (x == 183) return 5;
  else if (x == 184) return 1;
  else if (x == 185) return 8;
  else if (x == 186) return 4;
  else if (x == 187) return 0;
  else if (x == 188) return 7;
  else if (x == 189) return 3;
  else if (x == 190) return 10;
  else if (x == 191) return 6;
  else if (x == 192) return 2;
  else if (x == 193) return 9;
  else if (x == 194) return 5;
  else if (x == 195) return 1;
  else if (x == 196) return 8;
  else if (x == 197) return 4;
  else if (x == 198) return 0;
  else if (x == 199) return 7;
  else if (x == 200) return 3;
  else if (x == 201) return 10;
  else if (x == 202) return 6;
  else if (x == 203) return 2;
  else if (x == 204) return 9;
  else if (x == 205) return 5;
  else if (x == 206) return 1;
  else if (x == 207) return 8;
  else if (x == 208) return 4;
  else if (x == 209) return 0;
  else if (x == 210) return 7;
  else if (x == 211) return 3;
  else if (x == 212) return 10;
  else if (x == 213) return 6;
  else if (x == 214) return 2;
  else if (x == 215) return 9;
  else if (x == 216) return 5;
  else if (x == 217) return 1;
  else if (x == 218) return 8;
  else if (x == 219) return 4;
  else if (x == 220) return 0;
  else if (x == 221) return 7;
  else if (x == 222) return 3;
  else if (x == 223) return 10;
  else if (x == 224) return 6;
  else if (x == 225) return 2;
  else if (x == 226) return 9;
  else if (x == 227) return 5;
  else if (x == 228) return 1;
  else if (x == 229) return 8;
  else if (x == 230) return 4;
  else if (x == 231) return 0;
  else if (x == 232) return 7;
  else if (x == 233) return 3;
  else if (x == 234) return 10;
  else if (x == 235) return 6;
  else if (x == 236) return 2;
  else if (x == 237) return 9;
  else if (x == 238) return 5;
  else if (x == 239) return 1;
  else if (x == 240) return 8;
  else if (x == 241) return 4;
  else if (x == 242) return 0;
  else if (x == 243) return 7;
  else if (x == 244) return 3;
  else if (x == 245) return 10;
  else if (x == 246) return 6;
  else if (x == 247) return 2;
  else if (x == 248) return 9;
  else if (x == 249) return 5;
  else if (x == 250) return 1;
  else if (x == 251) return 8;
  else if (x == 252) return 4;
  else if (x == 253) return 0;
  else if (x == 254) return 7;
  else if (x == 255) return 3;
  else if (x == 256) return 10;
  else if (x == 257) return 6;
  else if (x == 258) return 2;
  else if (x == 259) return 9;
  else if (x == 260) return 5;
  else if (x == 261) return 1;
  else if (x == 262) return 8;
  else if (x == 263) return 4;
  else if (x == 264) return 0;
  else if (x == 265) return 7;
  else if (x == 266) return 3;
  else if (x == 267) return 10;
  else if (x == 268) return 6;
  else if (x == 269) return 2;
  else if (x == 270) return 9;
  else if (x == 271) return 5;
  else if (x == 272) return 1;
  else if (x == 273) return 8;
  else if (x == 274) return 4;
  else if (x == 275) return 0;
  else if (x == 276) return 7;
  else if (x == 277) return 3;
  else if (x == 278) return 10;
  else if (x == 279) return 6;
  else if (x == 280) return 2;
  else if (x == 281) return 9;
  else if (x == 282) return 5;
  else if (x == 283) return 1;
  else if (x == 284) return 8;
  else if (x == 285) return 4;
  else if (x == 286) return 0;
  else if (x == 287) return 7;
  else if (x == 288) return 3;
  else if (x == 289) return 10;
  else if (x == 290) return 6;
  else if (x == 291) return 2;
  else if (x == 292) return 9;
  else if (x == 293) return 5;
  else if (x == 294) return 1;
  else if (x == 295) return 8;
  else if (x == 296) return 4;
  else if (x == 297) return 0;
  else if (x == 298) return 7;
  else if (x == 299) return 3;
  else if (x == 300) return 10;
  else if (x == 301) return 6;
  else if (x == 302) return 2;
  else if (x == 303) return 9;
  else if (x == 304) return 5;
  else if (x == 305) return 1;
  else if (x == 306) return 8;
  else if (x == 307) return 4;
  else if (x == 308) return 0;
  else if (x == 309) return 7;
  else if (x == 310) return 3;
  else if (x == 311) return 10;
  else if (x == 312) return 6;
  else if (x == 313) return 2;
  else if (x == 314) return 9;
  else if (x == 315) return 5;
  else if (x == 316) return 1;
  else if (x == 317) return 8;
  else if (x == 318) return 4;
  else if (x == 319) return 0;
  else if (x == 320) return 7;
  else if (x == 321) return 3;
  else if (x == 322) return 10;
  else if (x == 323) return 6;
  else if (x == 324) return 2;
  else if (x == 325) return 9;
  else if (x == 326) return 5;
  else if (x == 327) return 1;
  else if (x == 328) return 8;
  else if (x == 329) return 4;
  else if (x == 330) return 0;
  else if (x == 331) return 7;
  else if (x == 332) return 3;
  else if (x == 333) return 10;
  else if (x == 334) return 6;
  else if (x == 335) return 2;
  else if (x == 336) return 9;
  else if (x == 337) return 5;
  else if (x == 338) return 1;
  else if (x == 339) return 8;
  else if (x == 340) return 4;
  else if (x == 341) return 0;
  else if (x == 342) return 7;
  else if (x == 343) return 3;
  else if (x == 344) return 10;
  else if (x == 345) return 6;
  else if (x == 346) return 2;
  else if (x == 347) return 9;
  else if (x == 348) return 5;
  else if (x == 349) return 1;
  else if (x == 350) return 8;
  else if (x == 351) return 4;
  else if (x == 352) return 0;
  else if (x == 353) return 7;
  else if (x == 354) return 3;
  else if (x == 355) return 10;
  else if (x == 356) return 6;
  else if (x == 357) return 2;
  else if (x == 358) return 9;
  else if (x == 359) return 5;
  else if (x == 360) return 1;
  else if (x == 361) return 8;
  else if (x == 362) return 4;
  else if (x == 363) return 0;
  else if (x == 364) return 7;
  else if (x == 365) return 3;
  else if (x == 366) return 10;
  else if (x == 367) return 6;
  else if (x == 368) return 2;
  else if (x == 369) return 9;
  else if (x == 370) return 5;
  else if (x == 371) return 1;
  else if (x == 372) return 8;
  else if (x == 373) return 4;
  else if (x == 374) return 0;
  else if (x == 375) return 7;
  else if (x == 376) return 3;
  else if (x == 377) return 10;
  else if (x == 378) return 6;
  else if (x == 379) return 2;
  else if (x == 380) return 9;
  else if (x == 381) return 5;
  else if (x == 382) return 1;
  else if (x == 383) return 8;
  else if (x == 384) return 4;
  else if (x == 385) return 0;
  else if (x == 386) return 7;
  else if (x == 387) return 3;
  else if (x == 388) return 10;
  else if (x == 389) return 6;
  else if (x == 390) return 2;
  else if (x == 391) return 9;
  else if (x == 392) return 5;
  else if (x == 393) return 1;
  else if (x == 394) return 8;
  else if (x == 395) return 4;
  else if (x == 396) return 0;
  else if (x == 397) return 7;
  else if (x == 398) return 3;
  else if (x == 399) return 10;
  else if (x == 400) return 6;
  else if (x == 401) return 2;
  else if (x == 402) return 9;
  else if (x == 403) return 5;
  else if (x == 404) return 1;
  else if (x == 405) return 8;
  else if (x == 406) return 4;
  else if (x == 407) return 0;
  else if (x == 408) return 7;
  else if (x == 409) return 3;
  else if (x == 410) return 10;
  else if (x == 411) return 6;
  else if (x == 412) return 2;
  else if (x == 413) return 9;
  else if (x == 414) return 5;
  else if (x == 415) return 1;
  else if (x == 416) return 8;
  else if (x == 417) return 4;
  else if (x == 418) return 0;
  else if (x == 419) return 7;
  else if (x == 420) return 3;
  else if (x == 421) return 10;
  else if (x == 422) return 6;
  else if (x == 423) return 2;
  else if (x == 424) return 9;
  else if (x == 425) return 5;
  else if (x == 426) return 1;
  else if (x == 427) return 8;
  else if (x == 428) return 4;
  else if (x == 429) return 0;
  else if (x == 430) return 7;
  else if (x == 431) return 3;
  else if (x == 432) return 10;
  else if (x == 433) return 6;
  else if (x == 434) return 2;
  else if (x == 435) return 9;
  else if (x == 436) return 5;
  else if (x == 437) return 1;
  else if (x == 438) return 8;
  else if (x == 439) return 4;
  else if (x == 440) return 0;
  else if (x == 441) return 7;
  else if (x == 442) return 3;
  else if (x == 443) return 10;
  else if (x == 444) return 6;
  else if (x == 445) return 2;
  else if (x == 446) return 9;
  else if (x == 447) return 5;
  else if (x == 448) return 1;
  else if (x == 449) return 8;
  else if (x == 450) return 4;
  else if (x == 451) return 0;
  else if (x == 452) return 7;
  else if (x == 453) return 3;
  else if (x == 454) return 10;
  else if (x == 455) return 6;
  else if (x == 456) return 2;
  else if (x == 457) return 9;
  else if (x == 458) return 5;
  else if (x == 459) return 1;
  else if (x == 460) return 8;
  else if (x == 461) return 4;
  else if (x == 462) return 0;
  else if (x == 463) return 7;
  else if (x == 464) return 3;
  else if (x == 465) return 10;
  else if (x == 466) return 6;
  else if (x == 467) return 2;
  else if (x == 468) return 9;
  else if (x == 469) return 5;
  else if (x == 470) return 1;
  else if (x == 471) return 8;
  else if (x == 472) return 4;
  else if (x == 473) return 0;
  else if (x == 474) return 7;
  else if (x == 475) return 3;
  else if (x == 476) return 10;
  else if (x == 477) return 6;
  else if (x == 478) return 2;
  else if (x == 479) return 9;
  else if (x == 480) return 5;
  else if (x == 481) return 1;
  else if (x == 482) return 8;
  else if (x == 483) return 4;
  else if (x == 484) return 0;
  else if (x == 485) return 7;
  else if (x == 486) return 3;
  else if (x == 487) return 10;
  else if (x == 488) return 6;
  else if (x == 489) return 2;
  else if (x == 490) return 9;
  else if (x == 491) return 5;
  else if (x == 492) return 1;
  else if (x == 493) return 8;
  else if (x == 494) return 4;
  else if (x == 495) return 0;
  else if (x == 496) return 7;
  else if (x == 497) return 3;
  else if (x == 498) return 10;
  else if (x == 499) return 6;
  else if (x == 500) return 2;
  else if (x == 501) return 9;
  else if (x == 502) return 5;
  else if (x == 503) return 1;
  else if (x == 504) return 8;
  else if (x == 505) return 4;
  else if (x == 506) return 0;
  else if (x == 507) return 7;
  else if (x == 508) return 3;
  else if (x == 509) return 10;
  else if (x == 510) return 6;
  else if (x == 511) return 2;
  else if (x == 512) return 9;
  else if (x == 513) return 5;
  else if (x == 514) return 1;
  else if (x == 515) return 8;
  else if (x == 516) return 4;
  else if (x == 517) return 0;
  else if (x == 518) return 7;
  else if (x == 519) return 3;
  else if (x == 520) return 10;
  else if (x == 521) return 6;
  else if (x == 522) return 2;
  else if (x == 523) return 9;
  else if (x == 524) return 5;
  else if (x == 525) return 1;
  else if (x == 526) return 8;
  else if (x == 527) return 4;
  else if (x == 528) return 0;
  else if (x == 529) return 7;
  else if (x == 530) return 3;
  else if (x == 531) return 10;
  else if (x == 532) return 6;
  else if (x == 533) return 2;
  else if (x == 534) return 9;
  else if (x == 535) return 5;
  else if (x == 536) return 1;
  else if (x == 537) return 8;
  else if (x == 538) return 4;
  else if (x == 539) return 0;
  else if (x == 540) return 7;
  else if (x == 541) return 3;
  else if (x == 542) return 10;
  else if (x == 543) return 6;
  else if (x == 544) return 2;
  else if (x == 545) return 9;
  else if (x == 546) return 5;
  else if (x == 547) return 1;
  else if (x == 548) return 8;
  else if (x == 549) return 4;
  else if (x == 550) return 0;
  else if (x == 551) return 7;
  else if (x == 552) return 3;
  else if (x == 553) return 10;
  else if (x == 554) return 6;
  else if (x == 555) return 2;
  else if (x == 556) return 9;
  else if (x == 557) return 5;
  else if (x == 558) return 1;
  else if (x == 559) return 8;
  else if (x == 560) return 4;
  else if (x == 561) return 0;
  else if (x == 562) return 7;
  else if (x == 563) return 3;
  else if (x == 564) return 10;
  else if (x == 565) return 6;
  else if (x == 566) return 2;
  else if (x == 567) return 9;
  else if (x == 568) return 5;
  else if (x == 569) return 1;
  else if (x == 570) return 8;
  else if (x == 571) return 4;
  else if (x == 572) return 0;
  else if (x == 573) return 7;
  else if (x == 574) return 3;
  else if (x == 575) return 10;
  else if (x == 576) return 6;
  else if (x == 577) return 2;
  else if (x == 578) return 9;
  else if (x == 579) return 5;
  else if (x == 580) return 1;
  else if (x == 581) return 8;
  else if (x == 582) return 4;
  else if (x == 583) return 0;
  else if (x == 584) return 7;
  else if (x == 585) return 3;
  else if (x == 586) return 10;
  else if (x == 587) return 6;
  else if (x == 588) return 2;
  else if (x == 589) return 9;
  else if (x == 590) return 5;
  else if (x == 591) return 1;
  else if (x == 592) return 8;
  else if (x == 593) return 4;
  else if (x == 594) return 0;
  else if (x == 595) return 7;
  else if (x == 596) return 3;
  else if (x == 597) return 10;
  else if (x == 598) return 6;
  else if (x == 599) return 2;
  else return -1;
}
constexpr int chosen(int x) {
  if (x == 0) return 1;
  else if (int y = x - 1) return y;
  else if (y == x - 1) return 7;
  else return 9;
}
static_assert(chosen(0) == 1 && chosen(1) == 7 && chosen(5) == 4, "");
kernel void k(device int *out) { out[0] = labels(out[1]) + operands(out[2]) + branches(out[3]); }
