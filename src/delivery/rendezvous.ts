/** A value that a text and a target have together. All daemons must compute the same one: never change it. */
function weightOf(text: string, seed: number): number {
  // FNV-1a with the final mix of MurmurHash3, so that seeds and last characters change all bits.
  let value = 0x811c9dc5 ^ seed;
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}

/** @returns the seed of a target for {@link highest} */
export function seedOf(name: string): number {
  return weightOf(name, 0);
}

/**
 * Rendezvous hashing: without a target, only its own keys move, each to the target with its next highest weight.
 *
 * @returns the index of the target with the highest weight; 0 if there are none
 */
export function highest(key: string, targets: readonly { readonly seed: number }[]): number {
  let best = 0;
  let most = -1;
  targets.forEach(({ seed }, at) => {
    const weight = weightOf(key, seed);
    if (weight > most) [best, most] = [at, weight];
  });
  return best;
}
