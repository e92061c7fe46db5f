import { randomBytes } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import t from 'tap';
import { MainCheckpoints } from '../../src/storage/duckdb/meta/main-checkpoints.js';
import type { PromptVersion } from '../../src/storage/meta-store.js';
import { aPrompt, aUser } from './meta-records.js';
import { openMetaTables } from './opened-meta-tables.js';
import { canLimit, RemoteStore } from './remote-store.js';
import { TestStore } from './test-store.js';

const MIB = 1024 * 1024;

/** A text of a mebibyte that hardly compresses. */
const noise = () => randomBytes(0.75 * MIB).toString('base64');

function logSize(path: string): number {
  return existsSync(`${path}.wal`) ? statSync(`${path}.wal`).size : 0;
}

void t.test('the log of the main file gets small again, while reads and writes go on', async (t) => {
  const { tables, path, logger, again } = await openMetaTables(t);
  const users = Array.from({ length: 20 }, () => aUser({ name: noise() }));
  let largest = 0;
  let read = 0;
  for (const user of users) {
    const [listed] = await Promise.all([tables.listUsers(), tables.createUser(user)]);
    t.equal(listed.length, read++);
    largest = Math.max(largest, logSize(path));
  }
  await tables.idle();
  t.ok(largest < 20 * MIB, `at most ${largest} bytes`);
  t.ok(logSize(path) < 10 * MIB, `${logSize(path)} bytes at the end`);
  t.same(logger.lines, []);
  t.strictSame(
    new Set((await (await again()).listUsers()).map(({ id }) => id)),
    new Set(users.map(({ id }) => id)),
  );
});

void t.test('a checkpoint is due after many texts or many statements', async (t) => {
  const { connect, file, logger } = await openMetaTables(t);
  const checkpoints = new MainCheckpoints(await connect(), file);
  const text = 'x'.repeat(MIB);
  for (let i = 0; i < 15; i++) checkpoints.count([1, null, text, true]);
  checkpoints.count([text.slice(1)]);
  t.notOk(checkpoints.isDue);
  checkpoints.count(['x']);
  t.ok(checkpoints.isDue);
  await checkpoints.make();
  t.notOk(checkpoints.isDue);
  for (let i = 0; i < 19_999; i++) checkpoints.count([]);
  t.notOk(checkpoints.isDue);
  checkpoints.count([]);
  t.ok(checkpoints.isDue);
  t.same(logger.lines, []);
});

void t.test(
  'a checkpoint that finds no room is said, harms nothing, and is made later',
  { skip: canLimit() ? false : 'prlimit is not here' },
  async (t) => {
    const opened = await TestStore.open(t);
    await opened.close();
    const store = await RemoteStore.open(t, opened.path, 100_000);
    const user = aUser();
    await store.call('createUser', user);
    const created: PromptVersion[] = [];
    const create = async (prompts: number): Promise<void> => {
      for (let i = 0; i < prompts; i++) {
        const prompt = aPrompt({ version: created.length + 1, template_text: noise() });
        await store.call('createPrompt', user.id, prompt);
        created.unshift(prompt);
        t.same(await store.call('listUsers'), [user]);
      }
    };
    const failed = /main file could not be checkpointed/;
    const log = async (): Promise<string> => (await store.call<string[]>('log')).join('\n');
    await create(20);
    t.notMatch(await log(), failed);
    t.ok(logSize(opened.path) < 10 * MIB);
    // The log has room, the file has not.
    store.limitFiles(30 * MIB);
    await create(14);
    t.match(await log(), failed);
    store.limitFiles('unlimited');
    await create(20);
    t.ok(logSize(opened.path) < 10 * MIB, `${logSize(opened.path)} bytes`);
    await store.kill();
    await opened.start();
    const found: PromptVersion[] = [];
    for await (const page of await opened.store.listPrompts(user.id)) found.push(...page);
    t.ok(isDeepStrictEqual(found, created), 'everything is there');
  },
);
