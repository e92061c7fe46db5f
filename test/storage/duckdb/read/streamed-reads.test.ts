import t from 'tap';
import { openTwoFiles } from '../two-files.js';

const ROWS = 1500;

/** As a single statement without a transaction, one in twenty reads found rows beyond its bound. */
void t.test('a streamed read sees only rows committed before it started', async (t) => {
  const { database, writer } = await openTwoFiles(t);
  await writer.run('CREATE TABLE cold.t (seq BIGINT)');
  let last = 0;
  let reads = 0;
  const read = async (): Promise<void> => {
    const connection = await database.connect();
    while (last < ROWS) {
      const bound = last;
      let rows = 0;
      const sql = `SELECT seq FROM cold.t WHERE seq <= ${bound}`;
      for await (const chunk of connection.chunks(sql)) rows += chunk.rows;
      if (rows !== bound) t.fail(`${rows} rows up to ${bound}`);
      reads++;
    }
  };
  const reading = read();
  while (last < ROWS) {
    await writer.run(`INSERT INTO cold.t VALUES (${last + 1})`);
    last++;
  }
  await reading;
  t.ok(reads > 10);
});
