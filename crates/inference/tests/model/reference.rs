//! Reference forward pass from the formulas, all positions at once, in f64.

use crate::tiny::TinyModel;

/// Returns the logits after each token.
pub(crate) fn logits(model: &TinyModel, tokens: &[u32]) -> Vec<Vec<f64>> {
    let shape = &model.shape;
    let embedding = model.tensor("token_embd.weight");
    let mut stream: Vec<Vec<f64>> =
        tokens.iter().map(|&token| embedding[token as usize * shape.width..][..shape.width].to_vec()).collect();
    for layer in 0..shape.layers {
        let name = |tensor: &str| format!("blk.{layer}.{tensor}");
        attention(model, &name, &mut stream);
        for h in &mut stream {
            let x = norm(h, model.tensor(&name("ffn_norm.weight")), shape.epsilon());
            let gate = multiply(model.tensor(&name("ffn_gate.weight")), &x);
            let up = multiply(model.tensor(&name("ffn_up.weight")), &x);
            let inner: Vec<f64> = gate.iter().zip(&up).map(|(g, u)| g / (1.0 + (-g).exp()) * u).collect();
            add(h, &multiply(model.tensor(&name("ffn_down.weight")), &inner));
        }
    }
    let head = model.tensor(if shape.untied { "output.weight" } else { "token_embd.weight" });
    stream.iter().map(|h| multiply(head, &norm(h, model.tensor("output_norm.weight"), shape.epsilon()))).collect()
}

fn attention(model: &TinyModel, name: &dyn Fn(&str) -> String, stream: &mut [Vec<f64>]) {
    let shape = &model.shape;
    let project = |x: &[f64], which: &str| {
        let mut result = multiply(model.tensor(&name(&format!("attn_{which}.weight"))), x);
        if shape.architecture == "qwen2" {
            add(&mut result, model.tensor(&name(&format!("attn_{which}.bias"))));
        }
        let mut heads: Vec<Vec<f64>> = result.chunks(shape.head_dim).map(<[f64]>::to_vec).collect();
        if shape.architecture == "qwen3" && which != "v" {
            let w = model.tensor(&name(&format!("attn_{which}_norm.weight")));
            heads.iter_mut().for_each(|head| *head = norm(head, w, shape.epsilon()));
        }
        heads
    };
    let (mut queries, mut keys, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for (position, h) in stream.iter().enumerate() {
        let x = norm(h, model.tensor(&name("attn_norm.weight")), shape.epsilon());
        let rotated = |heads: Vec<Vec<f64>>| -> Vec<Vec<f64>> {
            heads.iter().map(|head| rotate(model, head, position)).collect()
        };
        queries.push(rotated(project(&x, "q")));
        keys.push(rotated(project(&x, "k")));
        values.push(project(&x, "v"));
    }
    let group = shape.heads / shape.kv_heads;
    for (position, h) in stream.iter_mut().enumerate() {
        let mut attended = Vec::new();
        for head in 0..shape.heads {
            let query = &queries[position][head];
            let weights: Vec<f64> = (0..=position)
                .map(|other| (dot(query, &keys[other][head / group]) / (shape.head_dim as f64).sqrt()).exp())
                .collect();
            let total: f64 = weights.iter().sum();
            attended.extend((0..shape.head_dim).map(|i| {
                let sum: f64 =
                    weights.iter().enumerate().map(|(other, weight)| weight * values[other][head / group][i]).sum();
                sum / total
            }));
        }
        add(h, &multiply(model.tensor(&name("attn_output.weight")), &attended));
    }
}

fn rotate(model: &TinyModel, head: &[f64], position: usize) -> Vec<f64> {
    let (shape, mut rotated, half) = (&model.shape, head.to_vec(), head.len() / 2);
    for i in 0..half {
        let factor = if shape.rope_factors { model.tensor("rope_freqs.weight")[i] } else { 1.0 };
        let angle = position as f64 / shape.rope_scale * shape.rope_base.powf(-(i as f64) / half as f64) / factor;
        let (first, second) = if shape.neox() { (i, i + half) } else { (2 * i, 2 * i + 1) };
        rotated[first] = head[first] * angle.cos() - head[second] * angle.sin();
        rotated[second] = head[first] * angle.sin() + head[second] * angle.cos();
    }
    rotated
}

fn norm(x: &[f64], w: &[f64], epsilon: f32) -> Vec<f64> {
    let mean = dot(x, x) / x.len() as f64;
    let factor = 1.0 / (mean + f64::from(epsilon)).sqrt();
    x.iter().zip(w).map(|(x, w)| x * factor * w).collect()
}

/// Matrix-vector product; the rows of `w` are as long as `x`.
fn multiply(w: &[f64], x: &[f64]) -> Vec<f64> {
    w.chunks(x.len()).map(|row| dot(row, x)).collect()
}

fn add(h: &mut [f64], x: &[f64]) {
    h.iter_mut().zip(x).for_each(|(h, x)| *h += x);
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
