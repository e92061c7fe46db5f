/** How the spans of one trace are kept. */
export interface RunSize {
  /** Of a trace with more spans not everything is worked out from all of them at each commit. */
  readonly few: number;
}

export const RUN_SIZE: RunSize = { few: 128 };
