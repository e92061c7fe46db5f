import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import t from 'tap';

/** Number of ClickHouse client modules loaded by a process that imports a module of ours and runs some code. */
async function loadedAfter(module: string, work: string): Promise<number> {
  const url = new URL(`../../../src/${module}`, import.meta.url).href;
  const script = `
    import Module from 'node:module';
    const imported = await import(${JSON.stringify(url)});
    ${work}
    const loaded = Object.keys(Module._cache).filter((path) => path.includes('@clickhouse'));
    process.stdout.write(String(loaded.length));
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
  return Number(stdout);
}

void t.test('loads the ClickHouse client only when a store is opened', async (t) => {
  t.equal(await loadedAfter('builtin.js', ''), 0);
  const open = `
    const tls = { ca: undefined, cert: undefined, key: undefined };
    await imported.Connection.open({ urls: ['http://127.0.0.1:9'], tls }, { database: null, now: () => 0 });
  `;
  t.ok((await loadedAfter('storage/clickhouse/client/connection.js', open)) > 0);
});
