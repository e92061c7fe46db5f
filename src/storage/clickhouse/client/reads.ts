import type { Connection } from './connection.js';

/** What only asks. */
export type Reads = Pick<Connection, 'rows' | 'pages'>;
