//! NSBundle: the folder of the program.

use super::object::NS_OBJECT;
use super::string;
use super::url::Url;
use crate::runtime::{Id, Strong};
use std::path::PathBuf;

/// A folder with resources.
pub(crate) struct Folder(PathBuf);

fn main() -> Strong {
    let program = std::env::current_exe().unwrap_or_default();
    Strong::new(Folder(program.parent().map(PathBuf::from).unwrap_or_default()))
}

impl Folder {
    pub(crate) fn resource(&self, name: &str, extension: &str) -> Option<String> {
        let file = if extension.is_empty() { name.to_owned() } else { format!("{name}.{extension}") };
        let path = self.0.join(file);
        path.exists().then(|| path.display().to_string())
    }
}

class! {
    NS_BUNDLE = "NSBundle": NS_OBJECT, new Folder, []
    methods {
        + "mainBundle" (_class) -> Id { main().autorelease() }
        + "bundleForClass:" (_class, _of: &'static Class) -> Id { main().autorelease() }
        + "bundleWithPath:" (_class, path: Id) -> Id {
            Strong::new(Folder(PathBuf::from(string::describe(path)))).autorelease()
        }
        - "bundlePath" (this) -> Id { string::new(&this.0.display().to_string()).autorelease() }
        - "resourcePath" (this) -> Id { string::new(&this.0.display().to_string()).autorelease() }
        - "bundleURL" (this) -> Id { Strong::new(Url::file(&this.0.display().to_string())).autorelease() }
        - "resourceURL" (this) -> Id { Strong::new(Url::file(&this.0.display().to_string())).autorelease() }
        - "bundleIdentifier" (_this) -> Id { Id::NIL }
        - "infoDictionary" (_this) -> Id { super::dictionary::Pairs::strong(Vec::new()).autorelease() }
        - "pathForResource:ofType:" (this, name: Id, extension: Id) -> Id {
            let path = this.resource(&string::describe(name), &string::text(extension).unwrap_or_default());
            path.map_or(Id::NIL, |path| string::new(&path).autorelease())
        }
        - "URLForResource:withExtension:" (this, name: Id, extension: Id) -> Id {
            let path = this.resource(&string::describe(name), &string::text(extension).unwrap_or_default());
            path.map_or(Id::NIL, |path| Strong::new(Url::file(&path)).autorelease())
        }
    }
}
