//! Dynamic libraries of back ends that compile AIR themselves: their functions are linked to kernels when pipelines are
//! created.

use super::air_library::AirLibrary;
use super::{Library, LinkableLibrary, PipelineRequest, own};
use crate::digest::{Digest, Hasher};
use crate::error::{Error, Result, usage};
use std::path::Path;
use std::sync::Arc;

#[cfg(llvm)]
use super::air_library::AirVisibleFunction;
#[cfg(llvm)]
use super::{DynamicLibrary, LinkedFunction};
#[cfg(llvm)]
use crate::program::air::{Air, VisibleAir};
#[cfg(llvm)]
use std::collections::BTreeSet;

/// A dynamic library, from source or from a `.metallib`.
pub(crate) struct AirDynamicLibrary {
    library: Arc<dyn Library>,
    install_name: String,
}

impl AirDynamicLibrary {
    pub(crate) fn new(library: &Arc<dyn Library>) -> Result<AirDynamicLibrary> {
        match own::<AirLibrary>(&**library)?.install_name() {
            Some(install_name) => Ok(AirDynamicLibrary { library: library.clone(), install_name }),
            None => usage(
                "new_dynamic_library: the library is an executable one; compile it with \
                 'CompileOptions::library_type', or with 'metalworks compile --dynamic'",
            ),
        }
    }

    fn air(&self) -> Result<&AirLibrary> {
        own(&*self.library)
    }
}

impl LinkableLibrary for AirDynamicLibrary {
    fn install_name(&self) -> String {
        self.install_name.clone()
    }

    fn digest(&self) -> Option<Digest> {
        let mut hasher = Hasher::new("dynamic library");
        hasher.bytes(&self.air().ok()?.whole_digest()?);
        for library in self.library.linked_libraries() {
            hasher.bytes(&library.backend().digest()?);
        }
        Some(hasher.finish())
    }

    fn serialize(&self, path: &Path) -> Result<()> {
        let bytes = self.air()?.dynamic_metallib(&self.install_name)?;
        let failed =
            |error: std::io::Error| Error::Write { path: path.display().to_string(), reason: error.to_string() };
        crate::files::replace_with(path, &bytes).map_err(failed)
    }
}

/// The functions of dynamic libraries that a kernel with these undefined symbols needs, directly or through others.
///
#[cfg(llvm)]
pub(crate) fn exports(request: &PipelineRequest, undefined: &[&[String]]) -> Result<Vec<VisibleAir>> {
    let libraries = search_order(request)?;
    let mut pending: Vec<String> = undefined.concat();
    let (mut seen, mut found, mut missing) = (BTreeSet::new(), Vec::new(), Vec::new());
    while let Some(symbol) = pending.pop() {
        if !seen.insert(symbol.clone()) {
            continue;
        }
        let mut candidates = libraries.iter().map(|library| {
            let library = own::<AirDynamicLibrary>(&**library.backend())?;
            library.air()?.exported(&symbol)
        });
        match candidates.find_map(Result::transpose).transpose()? {
            Some(function) => {
                pending.extend(function.visible.undefined.iter().cloned());
                found.push(function);
            }
            None => missing.push(symbol),
        }
    }
    match missing.is_empty() {
        true => Ok(found),
        false => usage(unresolved(request, &mut missing)),
    }
}

/// The libraries to search: those that the pipeline's descriptor preloads, those that the kernel's library was compiled
/// with, and then those that these were compiled with themselves.
#[cfg(llvm)]
fn search_order(request: &PipelineRequest) -> Result<Vec<DynamicLibrary>> {
    let mut order: Vec<DynamicLibrary> = Vec::new();
    let mut next = [request.preloaded.clone(), request.library.linked_libraries()].concat();
    while !next.is_empty() {
        let mut dependencies = Vec::new();
        for library in next {
            if !order.iter().any(|other| Arc::ptr_eq(other.backend(), library.backend())) {
                dependencies.extend(own::<AirDynamicLibrary>(&**library.backend())?.library.linked_libraries());
                order.push(library);
            }
        }
        next = dependencies;
    }
    Ok(order)
}

/// The message for functions that no library has.
#[cfg(llvm)]
fn unresolved(request: &PipelineRequest, missing: &mut [String]) -> String {
    missing.sort();
    let (plural, them) = if missing.len() == 1 { ("", "it") } else { ("s", "them") };
    let names: Vec<String> = missing.iter().map(|symbol| format!("'{}' ({symbol})", source_name(symbol))).collect();
    let linked = own::<AirLibrary>(&*request.library).map(AirLibrary::linked_names).unwrap_or_default();
    let linked = match linked.is_empty() {
        true => String::new(),
        false => format!("; its library was linked with {}", linked.join(", ")),
    };
    format!(
        "kernel '{}': undefined symbol{plural}: {}; no dynamic library defines {them}{linked}",
        request.kernel,
        names.join(", ")
    )
}

/// The name of a function in the source: `scale` of `_Z5scalef`.
#[cfg(llvm)]
fn source_name(symbol: &str) -> String {
    let Some(rest) = symbol.strip_prefix("_Z") else { return symbol.into() };
    let (mut rest, is_nested) = rest.strip_prefix('N').map_or((rest, false), |rest| (rest, true));
    let mut parts = Vec::new();
    loop {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let Some((name, after)) =
            rest[..digits].parse().ok().and_then(|length| rest[digits..].split_at_checked(length))
        else {
            break;
        };
        parts.push(name);
        rest = after;
        if !is_nested {
            break;
        }
    }
    if parts.is_empty() { symbol.into() } else { parts.join("::") }
}

/// The kernel of a request with the functions that are linked to it, if there are some.
#[cfg(llvm)]
pub(crate) fn link(request: &PipelineRequest, kernel: &Air) -> Result<Option<Air>> {
    if request.linked.is_empty() && kernel.specialized.undefined.is_empty() {
        return Ok(None);
    }
    let functions = request.linked.iter().map(|linked| {
        let function = AirVisibleFunction::of(&*linked.function).map(|function| &function.air);
        function.ok_or_else(|| {
            let LinkedFunction { name, .. } = linked;
            Error::Usage(format!("the function '{name}' belongs to a library that was opened for another device"))
        })
    });
    let functions = functions.collect::<Result<Vec<_>>>()?;
    let undefined = functions.iter().map(|function| &function.visible.undefined[..]);
    let undefined: Vec<&[String]> = undefined.chain([&kernel.specialized.undefined[..]]).collect();
    let exports = exports(request, &undefined)?;
    kernel.link(&functions, &exports).map(Some)
}
