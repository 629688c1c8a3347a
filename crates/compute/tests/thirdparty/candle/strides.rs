//! Shapes and strides as candle has them: in elements, the fastest dimension last.

/// Locations of the elements of a shape, in the order of the shape.
pub(crate) fn places(shape: &[usize], strides: &[usize]) -> Vec<usize> {
    let count: usize = shape.iter().product();
    let place = |mut at: usize| {
        let mut place = 0;
        for (extent, stride) in shape.iter().zip(strides).rev() {
            place += at % extent * stride;
            at /= extent;
        }
        place
    };
    (0..count).map(place).collect()
}

/// Elements picked by their places.
pub(crate) fn pick<T: Copy>(elements: &[T], places: &[usize]) -> Vec<T> {
    places.iter().map(|place| elements[*place]).collect()
}

/// The strides of elements side by side.
pub(crate) fn contiguous(shape: &[usize]) -> Vec<usize> {
    (0..shape.len()).map(|dimension| shape[dimension + 1..].iter().product()).collect()
}
