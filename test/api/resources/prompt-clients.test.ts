import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import t, { type Test } from 'tap';
import ts from 'typescript';
import { startApi } from '../../support/api.js';
import { readProjectFile } from '../../support/project-file.js';
import { testFolder } from '../../support/test-folder.js';
import { until } from '../../support/until.js';

const NAME = 'support/answer é';
/** Nothing listens there. */
const AWAY = 'http://127.0.0.1:1';

interface Asked {
  /** Seconds on the client's clock. */
  readonly at: number;
  readonly url: string;
  readonly session?: string;
  readonly fallback?: { readonly version: number };
}

/** Asks the client for the prompt. @returns its version, or `error` */
type Ask = (asked: Asked) => Promise<number | string>;

/** The only code block of a language in the page. */
function codeIn(language: string): string {
  const page = readProjectFile('src/extensions/query/prompt-clients.md');
  const [, code = '', ...others] = page.split(`\`\`\`${language}\n`);
  if (others.length > 0) throw new Error(`the page has several blocks of ${language}`);
  return code.split('\n```')[0] ?? '';
}

async function check(t: Test, start: (url: string, key: string) => Promise<Ask>): Promise<void> {
  const api = await startApi(t);
  const { url } = api;
  const { key } = await api.createKey(['read']);
  for (const version of [1, 2]) {
    const json = { name: NAME, version, template_text: `Version ${version}` };
    await api.call('POST', '/dashboard/prompts/', { json });
  }
  const label = `/dashboard/prompts/${encodeURIComponent(NAME)}/labels/production`;
  const move = async (json: object) => await api.call('PUT', label, { json });
  const ask = await start(url, key);
  t.equal(await ask({ at: 0, url }), 'error', 'no label');
  t.equal(await ask({ at: 0, url, fallback: { version: 7 } }), 7, 'the fallback');
  await move({ version: 1 });
  t.equal(await ask({ at: 0, url }), 1);
  await move({ version: 2 });
  t.equal(await ask({ at: 29, url }), 1, 'from memory');
  t.equal(await ask({ at: 31, url }), 1, 'the old one, while it is loaded in the background');
  await until('the new version is served', async () => (await ask({ at: 31, url })) === 2);
  t.equal(await ask({ at: 70, url }), 2);
  t.equal(await ask({ at: 700, url }), 2, 'loaded again: unchanged');
  t.equal(await ask({ at: 2000, url: AWAY }), 2, 'the last one, while the daemon is away');
  t.equal(await ask({ at: 2000, url: AWAY, session: 'a' }), 'error', 'another session');
  t.equal(await ask({ at: 2000, url: AWAY, session: 'a', fallback: { version: 7 } }), 7);
  const halves = [1, 2].map((version) => ({ version, weight: 1 }));
  await move({ versions: halves });
  const sessions = Array.from({ length: 10 }, (_, i) => `session ${i}`);
  const versions = await Promise.all(sessions.map((session) => ask({ at: 2000, url, session })));
  t.strictSame([...new Set(versions)].sort(), [1, 2]);
  await api.call('DELETE', label);
  t.equal(await ask({ at: 3000, url }), 'error', 'a removed label');
  t.equal(await ask({ at: 3000, url: AWAY }), 'error', 'not the old one later');
}

void t.test('the TypeScript client of the documentation', async (t) => {
  const file = join(testFolder(t), 'prompts.mjs');
  const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 };
  writeFileSync(file, ts.transpileModule(codeIn('ts'), { compilerOptions }).outputText);
  interface Client {
    url: string;
    get(name: string, options: object): Promise<{ readonly version: number }>;
  }
  const { Prompts } = (await import(pathToFileURL(file).href)) as {
    readonly Prompts: new (url: string, key: string, now: () => number) => Client;
  };
  await check(t, async (url, key) => {
    let seconds = 0;
    const client = new Prompts(url, key, () => 1000 * seconds);
    return async ({ at, url, session: sessionId, fallback }) => {
      seconds = at;
      client.url = url;
      return await client.get(NAME, { sessionId, fallback }).then(
        ({ version }) => version,
        () => 'error',
      );
    };
  });
});

/** Answers lines of JSON. */
const ASKING = `
import sys
clock = [0]
client = Prompts(sys.argv[1], sys.argv[2], lambda: clock[0])
for line in sys.stdin:
    asked = json.loads(line)
    clock[0], client.url = asked["at"], asked["url"]
    try:
        found = client.get(sys.argv[3], session_id=asked.get("session"), fallback=asked.get("fallback"))
        print(json.dumps(found["version"]), flush=True)
    except OSError:
        print('"error"', flush=True)
`;

const hasPython = spawnSync('python3', ['--version']).status === 0;

void t.test(
  'the Python client of the documentation',
  { skip: hasPython ? false : 'python3 is not installed' },
  async (t) => {
    const file = join(testFolder(t), 'prompts.py');
    writeFileSync(file, codeIn('python') + ASKING);
    await check(t, async (url, key) => {
      const python = spawn('python3', [file, url, key, NAME], { stdio: ['pipe', 'pipe', 'inherit'] });
      const ended = once(python, 'exit');
      t.teardown(async () => {
        python.stdin.end();
        await ended;
      });
      const answers = createInterface({ input: python.stdout })[Symbol.asyncIterator]();
      let last: Promise<unknown> = Promise.resolve();
      return async (asked) => {
        // One line at a time, in order.
        const answer = last.then(async () => {
          python.stdin.write(`${JSON.stringify(asked)}\n`);
          const { value } = (await answers.next()) as { readonly value: string };
          return JSON.parse(value) as number | string;
        });
        last = answer;
        return await answer;
      };
    });
  },
);
