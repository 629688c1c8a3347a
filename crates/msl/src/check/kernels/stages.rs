//! Rules that differ between vertex, fragment and other entry points: inputs, results, members with attributes.

use super::inputs::builtin_input;
use super::stage_values::types_of;
use crate::check::Checker;
use crate::check::declarations::type_without_qualifiers;
use crate::check::state::Diagnostics;
use crate::check::tables::Tables;
use crate::parse::ast::{self, DeclKind, Stage, TypeExprKind};
use crate::source::Span;
use crate::types::{StructId, Ty, TyKind};
use smol_str::SmolStr;

/// The kind of an entry point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum StageKind {
    Kernel,
    Vertex,
    /// After tessellation.
    PatchVertex,
    Fragment,
    Object,
    Mesh,
    Intersection,
}

impl StageKind {
    pub(super) fn of(stage: Stage, decl: &ast::FunctionDecl) -> StageKind {
        let has = |name: &str| decl.attributes.iter().any(|attribute| attribute.name == name);
        match stage {
            Stage::Kernel => StageKind::Kernel,
            Stage::Vertex if has("patch") => StageKind::PatchVertex,
            Stage::Vertex => StageKind::Vertex,
            Stage::Fragment => StageKind::Fragment,
            Stage::Other if has("object") => StageKind::Object,
            Stage::Other if has("mesh") => StageKind::Mesh,
            Stage::Other => StageKind::Intersection,
        }
    }

    fn text(self) -> &'static str {
        match self {
            StageKind::Kernel => "a kernel function",
            StageKind::Vertex => "a vertex function",
            StageKind::PatchVertex => "a post-tessellation vertex function",
            StageKind::Fragment => "a fragment function",
            StageKind::Object => "an object function",
            StageKind::Mesh => "a mesh function",
            StageKind::Intersection => "an intersection function",
        }
    }

    /// True if the function is executed by threads of a grid.
    pub(super) fn has_grid(self) -> bool {
        matches!(self, StageKind::Kernel | StageKind::Object | StageKind::Mesh)
    }

    /// True if the function has this built-in input of kernels.
    fn has_builtin(self, name: &str) -> bool {
        let of_lanes = matches!(
            name,
            "thread_index_in_simdgroup"
                | "thread_index_in_quadgroup"
                | "threads_per_simdgroup"
                | "thread_execution_width"
        );
        self.has_grid() || (self == StageKind::Fragment && of_lanes)
    }
}

/// Refuses an attribute of a parameter or member that this kind of function does not have, or of another type.
pub(super) fn check_value(
    tables: &Tables<'_>,
    diagnostics: &mut Diagnostics,
    attribute: &ast::Attribute,
    stage: StageKind,
    ty: Ty,
    is_output: bool,
) {
    let name = &attribute.name;
    let types = match builtin_input(name) {
        Some(_) if is_output || stage.has_builtin(name) => None,
        Some(_) => Some(None),
        None => types_of(name, stage, is_output),
    };
    match types {
        None => {}
        Some(None) => {
            let what = if is_output { "the result" } else { "a parameter" };
            let message = format!("'{name}' attribute cannot be applied to {what} of {}", stage.text());
            diagnostics.error("attribute-stage", attribute.span, message);
        }
        Some(Some(allowed)) if ty.is_unknown() || allowed.allows(tables.types(), ty) => {}
        Some(Some(allowed)) => {
            let (shown, allowed) = (tables.name_of(ty), allowed.text());
            let message = format!("type '{shown}' is not valid for attribute '{name}': it must be {allowed}");
            diagnostics.error("attribute-type", attribute.span, message);
        }
    }
}

impl<'a> Checker<'a> {
    /// Checks the result of an entry point, and the parameters that all functions of its kind have.
    pub(super) fn check_stage(&mut self, decl: &'a ast::FunctionDecl, stage: StageKind, result: Ty, params: &[Ty]) {
        for ty in params.iter().chain([&result]) {
            self.complete_type(*ty);
        }
        match stage {
            StageKind::Kernel => {}
            StageKind::Vertex | StageKind::PatchVertex | StageKind::Fragment => {
                self.check_outputs(decl, stage, result)
            }
            StageKind::Object | StageKind::Mesh => {
                if result != Ty::VOID && !result.is_unknown() {
                    let (shown, stage) = (self.tables.name_of(result), stage.text());
                    let message = format!("{stage} must return 'void', not '{shown}'");
                    self.diagnostics.error("stage-result", decl.result.span, message);
                }
            }
            StageKind::Intersection => self.check_intersection(decl, result),
        }
        for (param, &ty) in decl.params.iter().zip(params) {
            self.check_stage_param(param, stage, ty);
        }
        let has_mesh = params.iter().any(|&ty| self.is_library_class(ty, "mesh"));
        if stage == StageKind::Mesh && !has_mesh && !params.iter().any(|ty| ty.is_unknown()) {
            let message = "a mesh function must have a parameter of type 'mesh'";
            self.diagnostics.error("stage-parameter", decl.name.span, message);
        }
    }

    fn is_library_class(&self, ty: Ty, name: &str) -> bool {
        let Some(id) = self.tables.types().struct_id(ty) else { return false };
        let class = self.tables.types().struct_(id);
        class.is_opaque && class.name.split('<').next() == Some(name)
    }

    fn check_stage_param(&mut self, param: &'a ast::Param, stage: StageKind, ty: Ty) {
        let owner = [
            ("mesh", &[StageKind::Mesh][..]),
            ("mesh_grid_properties", &[StageKind::Object]),
            ("imageblock", &[StageKind::Kernel]),
        ];
        for (class, stages) in owner {
            // Parameters of kernels without a binding are refused in any case.
            if self.is_library_class(ty, class) && !stages.contains(&stage) && stage != StageKind::Kernel {
                let (shown, stage) = (self.tables.name_of(ty), stage.text());
                let message = format!("invalid type '{shown}' for input declaration in {stage}");
                self.diagnostics.error("stage-parameter", param.span, message);
            }
        }
        if let Some(attribute) = param.attributes.iter().find(|attribute| attribute.name == "stage_in") {
            self.check_stage_in(attribute, stage, ty);
        }
    }

    /// `VertexIn in [[stage_in]]`: the members of vertices are attributes.
    fn check_stage_in(&mut self, attribute: &'a ast::Attribute, stage: StageKind, ty: Ty) {
        if ty.is_unknown() || self.is_library_class(ty, "patch_control_point") {
            return;
        }
        let Some(id) = self.tables.types().struct_id(ty) else {
            let shown = self.tables.name_of(ty);
            let message = format!("type '{shown}' is not valid for attribute 'stage_in': it must be a struct");
            self.diagnostics.error("attribute-type", attribute.span, message);
            return;
        };
        if stage == StageKind::Fragment {
            return;
        }
        for (member, attributes, ty) in self.members(id) {
            let has_attribute = attributes.iter().any(|attribute| attribute.name == "attribute");
            if has_attribute || self.tables.types().struct_id(ty).is_some() || ty.is_unknown() {
                continue;
            }
            let message = format!(
                "a member of the 'stage_in' struct of {} needs an 'attribute' attribute, such as [[attribute(0)]]",
                stage.text()
            );
            self.diagnostics.error("stage-in", member, message);
        }
    }

    fn check_outputs(&mut self, decl: &'a ast::FunctionDecl, stage: StageKind, result: Ty) {
        if result.is_unknown() {
            return;
        }
        match *self.tables.types().kind(result) {
            TyKind::Struct(id) => self.check_output_members(id, stage),
            TyKind::Pointer(_) | TyKind::Array { .. } => {
                let (shown, stage) = (self.tables.name_of(result), stage.text());
                let message = format!("invalid return type '{shown}' for {stage}");
                self.diagnostics.error("stage-result", decl.result.span, message);
            }
            _ => {
                for attribute in decl.attributes.iter().filter(|attribute| attribute.name != "patch") {
                    check_value(&self.tables, &mut self.diagnostics, attribute, stage, result, true);
                }
            }
        }
    }

    fn check_output_members(&mut self, id: StructId, stage: StageKind) {
        let mut colors: Vec<(u32, u32)> = Vec::new();
        for (member, attributes, ty) in self.members(id) {
            for attribute in attributes {
                check_value(&self.tables, &mut self.diagnostics, attribute, stage, ty, true);
            }
            let color = attributes.iter().find(|attribute| attribute.name == "color");
            if let Some(color) = color.and_then(|color| self.attribute_index(color, 7)) {
                let source = attributes.iter().find(|attribute| attribute.name == "index");
                let source = source.and_then(|index| self.attribute_index(index, 1)).unwrap_or(0);
                if colors.contains(&(color, source)) {
                    let message = format!("two outputs have the attribute 'color({color})'");
                    self.diagnostics.error("duplicate-index", member, message);
                }
                colors.push((color, source));
            }
            if let Some(depth) = attributes.iter().find(|attribute| attribute.name == "depth") {
                self.check_depth(depth);
            }
        }
    }

    /// `[[depth(any)]]`
    fn check_depth(&mut self, attribute: &'a ast::Attribute) {
        if !matches!(first_word(attribute), Some("any" | "greater" | "less")) {
            let message = "'depth' attribute takes 'any', 'greater' or 'less'";
            self.diagnostics.error("attribute", attribute.span, message);
        }
    }

    /// `[[intersection(triangle, …)]] bool f(…)`
    fn check_intersection(&mut self, decl: &'a ast::FunctionDecl, result: Ty) {
        let Some(attribute) = decl.attributes.iter().find(|attribute| attribute.name == "intersection") else {
            return;
        };
        let geometry = first_word(attribute);
        if !matches!(geometry, Some("triangle" | "bounding_box" | "curve")) {
            let message = "'intersection' attribute needs 'triangle', 'bounding_box' or 'curve' first";
            self.diagnostics.error("attribute", attribute.span, message);
            return;
        }
        let is_box = geometry == Some("bounding_box");
        if result.is_unknown() || (result == Ty::BOOL && !is_box) {
            return;
        }
        let members = self.tables.types().struct_id(result).map(|id| self.members(id));
        let has = |name: &str| {
            members.iter().flatten().any(|(_, attributes, _)| attributes.iter().any(|a| a.name == name))
        };
        if has("accept_intersection") && (!is_box || has("distance")) {
            if let Some(id) = self.tables.types().struct_id(result) {
                self.check_output_members(id, StageKind::Intersection);
            }
            return;
        }
        let wanted = match is_box {
            true => "a struct with members for 'accept_intersection' and 'distance'",
            false => "'bool' or a struct with a member for 'accept_intersection'",
        };
        let shown = self.tables.name_of(result);
        let message = format!("an intersection function must return {wanted}, not '{shown}'");
        self.diagnostics.error("stage-result", decl.result.span, message);
    }

    /// The names in the attribute of an intersection function, and the attributes of its result.
    pub(super) fn intersection_words(
        &self,
        decl: &'a ast::FunctionDecl,
        result: Ty,
    ) -> (Vec<SmolStr>, Vec<SmolStr>) {
        const OUTPUTS: [&str; 3] = ["accept_intersection", "distance", "continue_search"];
        let attribute = decl.attributes.iter().find(|attribute| attribute.name == "intersection");
        let tags = attribute.into_iter().flat_map(|attribute| &attribute.args).filter_map(|arg| match &arg.kind {
            ast::ExprKind::Path(path) => path.as_ident().cloned(),
            _ => None,
        });
        let outputs = match self.tables.types().struct_id(result) {
            None => vec![OUTPUTS[0].into()],
            Some(id) => {
                let is_output = |attribute: &&ast::Attribute| OUTPUTS.contains(&&*attribute.name);
                let members = self.members(id).into_iter();
                let words = members.map(|(_, attributes, _)| attributes.iter().find(is_output));
                words.map(|word| word.map(|word| word.name.clone()).unwrap_or_default()).collect()
            }
        };
        (tags.collect(), outputs)
    }

    /// The members of a struct with the attributes and types that they are declared with.
    fn members(&self, id: StructId) -> Vec<(Span, &'a [ast::Attribute], Ty)> {
        let fields = &self.tables.types().struct_(id).fields;
        let decls = self.tables.class(id).decl.into_iter().flat_map(|decl| decl.members.iter().flatten());
        let vars = decls.filter_map(|decl| match &decl.kind {
            DeclKind::Var(var) if !matches!(type_without_qualifiers(&var.ty), TypeExprKind::Class(_)) => Some(var),
            _ => None,
        });
        let find = |var: &'a ast::VarDecl| {
            let name = var.name.as_ref()?.last();
            let field = fields.iter().find(|field| field.name == name.name)?;
            Some((name.span, &*var.attributes, field.ty.ty))
        };
        vars.filter_map(find).collect()
    }
}

/// The first argument of an attribute, if it is a name.
fn first_word(attribute: &ast::Attribute) -> Option<&str> {
    match &attribute.args.first()?.kind {
        ast::ExprKind::Path(path) => path.as_ident().map(|name| name.as_str()),
        _ => None,
    }
}
