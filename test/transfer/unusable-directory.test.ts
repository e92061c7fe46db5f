import { chmodSync, existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ApiCaller } from '../support/api-caller.js';
import { startTestDaemon } from '../support/daemon.js';
import { spawnDaemon } from '../support/process.js';
import { testFolder } from '../support/test-folder.js';

// In a separate process: a hanging daemon must not block the test.
void t.test('refuses directories that cannot be created, and the daemon continues', async (t) => {
  const { url, key } = await spawnDaemon(t);
  const api = new ApiCaller(url, key);
  const refused = async (directory: string): Promise<void> => {
    const { status, body } = await api.call('POST', '/admin/export', { json: { directory } });
    t.equal(status, 409, directory);
    t.match(body, { code: 'conflict' });
    t.equal((await api.call('GET', '/me')).status, 200);
  };
  // This file system refuses new names with the error for missing parents.
  await refused('/proc/export');
  await refused('/proc/self/task/deep/export');
  await refused('/dev/null/export');
  await refused('/tmp/a\0b');
});

void t.test('exports are written below export_root, and a failed export leaves nothing behind', async (t) => {
  const folder = testFolder(t);
  const root = join(folder, 'exports');
  const overlay = JSON.stringify({ extensions: { query: { export_root: root } } });
  const { url, key } = await startTestDaemon(t, { directory: folder, overlay });
  const api = new ApiCaller(url, key);
  const ask = async (directory: string) => await api.call('POST', '/admin/export', { json: { directory } });
  const outside = join(folder, 'outside');
  mkdirSync(outside, { mode: 0o755 });
  const refused = {
    status: 409,
    body: { detail: /is not below .*: use a directory there, or change extensions\.query\.export_root/ },
  };
  for (const path of [outside, join(outside, 'new'), root, `${root}x`, join(root, '../x'), '../x', '..'])
    t.match(await ask(path), refused, path);
  t.strictSame([existsSync(root), readdirSync(outside)], [false, []]);

  t.match(await ask(`${root}/x/a/../b`), { status: 200, body: { directory: join(root, 'x/b') } });
  t.match(await ask('day'), { status: 200, body: { directory: join(root, 'day') } });
  t.strictSame(readdirSync(root).sort(), ['day', 'x']);

  symlinkSync(outside, join(root, 'link'));
  symlinkSync(join(folder, 'nowhere'), join(root, 'dangling'));
  t.match(await ask('link'), refused);
  t.match(await ask('link/new'), refused);
  t.match(await ask('dangling'), { status: 409, body: { detail: /broken symbolic link/ } });
  t.strictSame([existsSync(join(folder, 'nowhere')), readdirSync(outside)], [false, []]);

  mkdirSync(join(root, 'open'));
  chmodSync(join(root, 'open'), 0o755);
  t.match(await ask('open'), { status: 409, body: { detail: /make it private/ } });
  t.match(await ask(`new/${'n'.repeat(300)}`), { status: 409 });
  t.notOk(existsSync(join(root, 'new')), 'what was made above it is removed');
});
