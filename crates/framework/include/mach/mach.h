// Names of Mach that headers mention. There are no functions.
#pragma once

typedef int kern_return_t;
typedef unsigned int mach_port_t;
typedef mach_port_t task_id_token_t;
#define KERN_SUCCESS 0
