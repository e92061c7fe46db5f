import t from 'tap';
import { openTwoFiles } from '../two-files.js';

const ROUNDS = 150;
const KEPT = 200;
const ADDED = 100;
const KINDS = 10;

/** Without the setting in `Database.open`, some forty reads found nothing in each of three runs. */
void t.test('reads find all newest rows while checkpoints reclaim deleted rows', async (t) => {
  const { database, writer } = await openTwoFiles(t, '(ROW_GROUP_SIZE 8192)');
  await writer.run(
    'CREATE TABLE cold.t (id BIGINT, kind BIGINT, a VARCHAR, b VARCHAR, c VARCHAR, d VARCHAR, e DOUBLE, f DOUBLE)',
  );
  const add = async (from: number, to: number): Promise<void> => {
    await writer.run(
      `INSERT INTO cold.t SELECT range, range % ${KINDS}, range::VARCHAR, 'b', 'c', 'd', 1, 2 FROM range(${from}, ${to})`,
    );
  };
  await add(0, KEPT);
  let isWriting = true;
  const read = async (): Promise<void> => {
    const connection = await database.connect();
    for (let kind = 0; isWriting; kind = (kind + 1) % KINDS) {
      const rows = await connection.rows(
        `SELECT * FROM cold.t WHERE kind = ${kind} ORDER BY id DESC LIMIT 5`,
      );
      if (rows.length !== 5 || rows.some((row) => row.kind !== kind)) t.fail(`found ${JSON.stringify(rows)}`);
    }
  };
  const reads = [read(), read()];
  for (let round = 0; round < ROUNDS; round++) {
    const end = KEPT + round * ADDED;
    await writer.run('BEGIN');
    await add(end, end + ADDED);
    await writer.run(`DELETE FROM cold.t WHERE id < ${end - KEPT + ADDED}`);
    await writer.run('COMMIT');
    await writer.run('CHECKPOINT cold');
  }
  isWriting = false;
  await Promise.all(reads);
  t.pass();
});
