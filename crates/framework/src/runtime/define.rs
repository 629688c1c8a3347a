//! The macro that declares a class with methods written in Rust.

/// Declares a class in a static, exported under the name by which compilers refer to it.
///
/// ```text
/// class! {
///     NS_DATA = "NSData": NS_OBJECT, new Bytes, ["NSCopying"]
///     properties { "label" "setLabel:" label: Copied, }      // fields of a payload in Fields<…>
///     refused { "selector:" "why", }
///     absent { "selector", }
///     variadic { + "stringWithFormat:" with_format, }        // an object, then variable arguments; returns an object
///     methods {
///         - "length" (this) -> usize { this.0.len() }         // this: Object<Bytes>
///         + "data" (class) -> Id { … }                        // class: &'static Class
///     }
/// }
/// ```
///
/// `new T`: instances have a value of type `T`, which only our code makes. `default T`: so does `init`. `as T`: they have
/// that of the superclass. `static T`: so do objects that are statics, which nobody counts. In methods, `HERE` is the method's name for messages.
macro_rules! class {
    (
        $class:ident = $name:literal: $super:ident, $slot:ident $payload:ty, [$($protocol:literal),*]
        $(properties { $($get:literal $set:literal $field:ident: $kind:ty,)* })?
        $(refused { $($refused:literal $why:literal,)* })?
        $(absent { $($absent:literal,)* })?
        $(variadic { $($variable_sign:tt $variable:literal $code:path,)* })?
        methods { $($sign:tt $selector:literal ($this:ident $(, $arg:ident: $ty:ty)* $(,)?) $(-> $ret:ty)? $body:block)* }
    ) => {
        class!(@value $slot $payload, $class);

        const _: () = {
            /// The variable through which compiled programs refer to the class.
            #[unsafe(export_name = concat!("._OBJC_REF_CLASS_", $name))]
            static REFERENCE: std::sync::atomic::AtomicPtr<$crate::runtime::Class> =
                std::sync::atomic::AtomicPtr::new((&raw const $class).cast_mut());
        };

        #[unsafe(export_name = concat!("._OBJC_CLASS_", $name))]
        pub(crate) static $class: $crate::runtime::Class = {
            use $crate::runtime::class::*;
            static META: Class =
                Class::new(concat!($name, "\0"), std::ptr::null(), std::ptr::addr_of!($class), IS_META, 0, &DATA);
            static DATA: ClassData = ClassData {
                methods: &METHODS,
                properties: &PROPERTIES,
                refused: &[$($(($refused, $why)),*)?],
                absent: &[$($($absent),*)?],
                added: std::sync::Mutex::new(Vec::new()),
                ivars: std::sync::Mutex::new(Vec::new()),
                conforms: &[$($protocol),*],
                protocols: std::sync::Mutex::new(Vec::new()),
                slot: class!(@slot $slot $payload),
                live: std::sync::atomic::AtomicIsize::new(0),
            };
            const COUNT: usize = <[&str]>::len(&[$($selector),*]) + <[&str]>::len(&[$($($variable),*)?]);
            static METHODS: [Method; COUNT] = [$({
                extern "C-unwind" fn imp($this: class!(@receiver $sign $payload), _: $crate::runtime::Sel $(, $arg: $ty)*) $(-> $ret)? {
                    #[allow(dead_code, reason = "not every method can fail")]
                    const HERE: &str = concat!(stringify!($sign), "[", $name, " ", $selector, "]");
                    $body
                }
                Method::new(
                    class!(@is_of_class $sign),
                    concat!($selector, "\0"),
                    &[<class!(@result $($ret)?) as $crate::runtime::Encode>::CODE, $(<$ty as $crate::runtime::Encode>::CODE),*],
                    imp as *mut (),
                )
            },)* $($(
                Method::new(class!(@is_of_class $variable_sign), concat!($variable, "\0"), &["@", "@"], $code as *mut ()),
            )*)?];
            static PROPERTIES: [Method; 2 * <[&str]>::len(&[$($($get),*)?])] = [$($(
                {
                    extern "C-unwind" fn imp(this: $crate::runtime::Object<$payload>, _: $crate::runtime::Sel) -> <$kind as $crate::runtime::payload::Property>::Raw {
                        <$kind as $crate::runtime::payload::Property>::get(&this.lock().$field)
                    }
                    Method::new(
                        false,
                        concat!($get, "\0"),
                        &[<<$kind as $crate::runtime::payload::Property>::Raw as $crate::runtime::Encode>::CODE],
                        imp as *mut (),
                    )
                },
                {
                    extern "C-unwind" fn imp(
                        this: $crate::runtime::Object<$payload>,
                        _: $crate::runtime::Sel,
                        value: <$kind as $crate::runtime::payload::Property>::Raw,
                    ) {
                        let value = <$kind as $crate::runtime::payload::Property>::from_raw(value);
                        // The old value is dropped outside the lock: its release may run any code.
                        let _old = std::mem::replace(&mut this.lock().$field, value);
                    }
                    Method::new(
                        false,
                        concat!($set, "\0"),
                        &["v", <<$kind as $crate::runtime::payload::Property>::Raw as $crate::runtime::Encode>::CODE],
                        imp as *mut (),
                    )
                },
            )*)?];
            Class::new(concat!($name, "\0"), &META, class!(@super $super), class!(@info $slot), class!(@size $super $slot), &DATA)
        };
    };
    (@value as $payload:ty, $class:ident) => {};
    (@value static $payload:ty, $class:ident) => {};
    (@value $slot:ident $payload:ty, $class:ident) => {
        impl $crate::runtime::Payload for $payload {
            fn class() -> &'static $crate::runtime::Class { &$class }
        }
    };
    (@slot new $payload:ty) => {
        Some($crate::runtime::class::Slot { make: None, drop: $crate::runtime::payload::drop_value::<$payload> })
    };
    (@slot default $payload:ty) => {
        Some($crate::runtime::class::Slot {
            make: Some(|| Box::into_raw(Box::<$payload>::default()).cast()),
            drop: $crate::runtime::payload::drop_value::<$payload>,
        })
    };
    (@slot as $payload:ty) => { None };
    (@slot static $payload:ty) => { None };
    (@info static) => { IS_STATIC };
    (@info $slot:ident) => { 0 };
    (@super ROOT) => { std::ptr::null() };
    (@super $super:ident) => { std::ptr::addr_of!($super) };
    (@size ROOT $slot:ident) => { 8 };
    (@size $super:ident $slot:ident) => { 16 };
    (@receiver - $payload:ty) => { $crate::runtime::Object<$payload> };
    (@receiver + $payload:ty) => { &'static $crate::runtime::Class };
    (@is_of_class -) => { false };
    (@is_of_class +) => { true };
    (@result) => { () };
    (@result $ret:ty) => { $ret };
}
