/** Which database holds a control store. */
export type ControlOptions =
  | { readonly engine: 'sqlite'; readonly path: string }
  | {
      readonly engine: 'postgres';
      /** May hold a password: it is never shown. */
      readonly url: string;
      /** How many connections, beside the one that listens. */
      readonly connections: number;
    };
