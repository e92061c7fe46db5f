import t from 'tap';
import { ApiCaller } from '../support/api-caller.js';
import { spawnDaemon } from '../support/process.js';

// A process of its own: a daemon that hangs must not take the test with it.
void t.test('directories that cannot be made are refused, and the daemon goes on', async (t) => {
  const { url, key } = await spawnDaemon(t);
  const api = new ApiCaller(url, key);
  const refused = async (directory: string): Promise<void> => {
    const { status, body } = await api.call('POST', '/admin/export', { json: { directory } });
    t.equal(status, 409, directory);
    t.match(body, { code: 'conflict' });
    t.equal((await api.call('GET', '/me')).status, 200);
  };
  // The file system takes no new names, and says of these as of those whose parents are missing that they do not exist.
  await refused('/proc/export');
  await refused('/proc/self/task/deep/export');
  await refused('/dev/null/export');
  await refused('/tmp/a\0b');
});
