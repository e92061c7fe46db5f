import type { Connection } from './connection.js';

/** Read access to a connection. */
export type Reads = Pick<Connection, 'rows' | 'pages'>;
