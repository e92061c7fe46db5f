import { rmSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { WorkerPool } from '../../src/worker/pool.js';
import { aPlace } from '../support/channel-place.js';
import { BROKEN_BY, type OddTask } from './odd-task.js';
import { testFolder } from '../support/test-folder.js';

interface TaskAnswer {
  readonly value: unknown;
  readonly thread: number;
}

function open<Answer = TaskAnswer>(t: Test, threads = 1) {
  const crashes: Error[] = [];
  const pool = new WorkerPool<OddTask, Answer>({
    module: new URL('./odd-task.js', import.meta.url),
    threads,
    onIdleCrash: (error) => crashes.push(error),
  });
  t.teardown(() => pool.close());
  return { pool, crashes };
}

void t.test('runs one task at a time per thread', async (t) => {
  const { pool } = open(t, 2);
  const [a, b] = [aPlace(t), aPlace(t)];
  const first = pool.run({ waitAt: a.name }, []);
  const second = pool.run({ waitAt: b.name }, []);
  await Promise.all([a.reached, b.reached]);
  b.goOn();
  const { thread } = await second;
  t.equal((await pool.run({ send: 'now' }, [])).thread, thread, 'the other one is busy');
  a.goOn();
  t.not((await first).thread, thread);
});

void t.test('further tasks wait', async (t) => {
  const { pool } = open(t);
  const here = aPlace(t);
  const first = pool.run({ waitAt: here.name }, []);
  await here.reached;
  const others = [pool.run({ send: 1 }, []), pool.run({ send: 2 }, [])];
  here.goOn();
  t.match(await Promise.all([first, ...others]), [{ value: 'waited' }, { value: 1 }, { value: 2 }]);
});

void t.test('transfers buffers in both directions', async (t) => {
  const { pool } = open<{ readonly answer: ArrayBuffer }>(t);
  const bytes = new Uint8Array([1, 2, 3]).buffer;
  const { answer } = await pool.run({ bytes }, [bytes]);
  t.equal(bytes.byteLength, 0, 'detached here');
  t.same([...new Uint8Array(answer)], [2, 3, 4]);
});

void t.test('a module error rejects the task, and the thread lives on', async (t) => {
  const { pool } = open(t);
  const { thread } = await pool.run({ send: 1 }, []);
  await t.rejects(pool.run({ fail: 'not this one' }, []), { name: 'TypeError', message: 'not this one' });
  t.equal((await pool.run({ send: 2 }, [])).thread, thread);
});

void t.test('a task that cannot be cloned fails', async (t) => {
  const { pool } = open(t);
  await t.rejects(pool.run({ send: () => 1 }, []), { name: 'DataCloneError' });
  t.match(await pool.run({ send: 2 }, []), { value: 2 });
});

void t.test('a crashed thread fails its task and is replaced without affecting others', async (t) => {
  const { pool, crashes } = open(t, 2);
  const other = aPlace(t);
  const waiting = pool.run({ waitAt: other.name }, []);
  await other.reached;
  for (const exit of [0, 3])
    await t.rejects(pool.run({ exit }, []), { message: `worker exited with code: ${exit}` });
  t.match(await pool.run({ send: 'on' }, []), { value: 'on' });
  other.goOn();
  t.match(await waiting, { value: 'waited' });
  t.same(crashes, []);
});

void t.test('threads that crash at startup fail queued tasks; later tasks retry', async (t) => {
  const file = join(testFolder(t), 'broken');
  process.env[BROKEN_BY] = file;
  t.teardown(() => Reflect.deleteProperty(process.env, BROKEN_BY));
  const { pool, crashes } = open(t);
  await t.rejects(pool.run({ breakBy: file }, []), { message: 'worker exited with code: 6' });
  for (let i = 0; i < 3; i++) await t.rejects(pool.run({ send: i }, []));
  t.ok(crashes.length > 0);
  t.match(crashes[0]?.message, 'this thread is broken');
  rmSync(file);
  let answer: TaskAnswer | Error;
  do answer = await pool.run({ send: 'well' }, []).catch((error: unknown) => error as Error);
  while (answer instanceof Error);
  t.match(answer, { value: 'well' });
});

void t.test('closing fails pending and later tasks', async (t) => {
  const { pool } = open(t);
  const here = aPlace(t);
  const waiting = pool.run({ waitAt: here.name }, []).catch((error: unknown) => error);
  await here.reached;
  await pool.close();
  await pool.close();
  t.type(await waiting, Error);
  await t.rejects(pool.run({ send: 1 }, []), { message: 'the threads are closed' });
  await open(t).pool.close();
});
