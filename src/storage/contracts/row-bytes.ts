/** Bytes of a row beside its texts, about the same in every engine. */
export const ROW_BYTES = {
  span: 256,
  run: 256,
  point: 64,
  log: 128,
  link: 64,
  prompt: 256,
  view: 256,
  alert: 256,
} as const;
