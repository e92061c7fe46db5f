const SEARCHED = ['outcome', 'error_message'] as const;
const LOOKED_UP = ['session_id', 'user_id', 'tags'] as const;

/**
 * Which texts the runs of a moved segment may have (`duckdb/texts`), by the first and the last commit (`seq`) of its headers: the
 * bits of each column that is searched, or looked for as a whole, null where they would tell nothing. The columns' kinds know no bits, so this is in SQL.
 */
export const TEXT_BLOCKS = {
  name: 'text_blocks',
  searched: SEARCHED,
  /** In lines, of which each is looked for as a whole. */
  lookedUp: LOOKED_UP,
  create: (catalog: string): string =>
    `CREATE TABLE ${catalog}.main.text_blocks (seq BIGINT NOT NULL, first_seq BIGINT NOT NULL, ${[...SEARCHED, ...LOOKED_UP].map((column) => `${column} BIT`).join(', ')})`,
};
