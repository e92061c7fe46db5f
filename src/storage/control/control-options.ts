/** The database of a control store. */
export type ControlOptions =
  | { readonly engine: 'sqlite'; readonly path: string }
  | {
      readonly engine: 'postgres';
      /** May contain a password: never log it. */
      readonly url: string;
      /** Number of connections, in addition to the one for LISTEN. */
      readonly connections: number;
    };
