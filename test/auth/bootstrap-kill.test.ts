import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { DEFAULT_CONFIG } from '../../src/cli/default-config.js';
import { testFolder } from '../support/test-folder.js';

const MAIN = fileURLToPath(new URL('../../src/jackdaw.cjs', import.meta.url));

const FREE_PORTS = `
extensions: { query: { endpoint: "127.0.0.1:0" }, health: { endpoint: "localhost:0" } }
receivers:
  trace_batch: { endpoint: "127.0.0.1:0" }
  otlp: { protocols: { http: { endpoint: "127.0.0.1:000" }, grpc: { endpoint: "127.0.0.1:0000" } }, api_endpoint: "127.0.0.1:0" }
service: { telemetry: { metrics: { endpoint: "127.0.0.1:00" } } }
`;

/** Starts the built program in a folder with the default configuration, which generates the first key. */
function launch(t: Test, directory: string) {
  const files = [DEFAULT_CONFIG.text, FREE_PORTS].map((text, index) => {
    const file = join(directory, `config-${index}.yaml`);
    writeFileSync(file, text);
    return ['--config', file];
  });
  const child = spawn(process.execPath, [MAIN, 'run', ...files.flat()], {
    cwd: directory,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'exit');
  t.teardown(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return {
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
    /** Resolves with the address of the API once the daemon runs. */
    running: async () => {
      let out = '';
      for await (const piece of child.stderr.setEncoding('utf8')) {
        out += String(piece);
        const url = /"api":"([^"]+)".*"msg":"Running"/.exec(out)?.[1];
        if (url !== undefined) return { url, out };
      }
      throw new Error(`It ended before it ran: ${out}`);
    },
  };
}

void t.test('always leaves a working key when killed around its first start', async (t) => {
  for (const moment of ['when the file appears', 'when it runs'] as const) {
    const directory = testFolder(t);
    const path = join(directory, 'data', 'initial-api-key');
    const first = launch(t, directory);
    if (moment === 'when it runs') await first.running();
    while (!existsSync(path)) await setTimeout(2);
    await first.kill();

    const second = launch(t, directory);
    const { url, out } = await second.running();
    const key = (await readFile(path, 'utf8')).trim();
    t.equal((await stat(path)).mode & 0o777, 0o600);
    const answer = await fetch(`${url}/me`, { headers: { authorization: `Bearer ${key}` } });
    t.equal(answer.status, 200, `killed ${moment}`);
    t.match(await answer.json(), {
      user: { name: 'admin' },
      memberships: [{ slug: 'default', role: 'admin' }],
    });
    t.match(out, 'data/initial-api-key', 'the banner names the file');
    t.notMatch(out, key, 'but not the key');
    await second.kill();
  }
});
