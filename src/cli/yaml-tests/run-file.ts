import { readFileSync } from 'node:fs';
import type { Factory } from '../../component/factory.js';
import { ConfigError, formatProblem, type Position } from '../../config/config-error.js';
import { locate, nodeAt, type ConfigNode, type MapNode } from '../../config/config-node.js';
import { parseYaml } from '../../config/parse-yaml.js';
import { checkSchema } from '../../config/schema-check.js';
import { parseTime } from '../../signal/time.js';
import { StillClock } from '../../telemetry/still-clock.js';
import { openBench, readConfig, testedTree, type Bench } from './bench.js';
import { Recorder } from './chain.js';
import type { Difference } from './compare.js';
import { runDaemonTest } from './daemon/run-daemon-test.js';
import { Servers } from './daemon/servers.js';
import { runTest } from './run-test.js';
import { TestProblem } from './test-problem.js';
import { TestFileSchema, type Case, type TestFile } from './test-schema.js';

/** The result of a test. */
export interface TestResult {
  readonly name: string;
  /** Position in the file. */
  readonly position: Position;
  readonly differences: readonly Difference[];
  /** The problem of the test itself, as a line with its position. */
  readonly problem: string | null;
}

const START = '2026-01-15T12:00:00Z';

/**
 * Runs all tests of a file in sequence.
 *
 * @throws ConfigError if the file or its configuration cannot be used
 */
export async function runFile(file: string, builtin: readonly Factory[]): Promise<readonly TestResult[]> {
  const { root, problems } = parseYaml(readText(file), file, 'a map with tests');
  if (root?.kind !== 'map') throw new ConfigError(problems);
  const checked = checkSchema(TestFileSchema, root, []);
  if (checked.problems.length > 0) throw new ConfigError(checked.problems);
  const written = checked.value as TestFile;
  const now = parseTime(written.now ?? START);
  if (now === undefined)
    throw new ConfigError([
      {
        severity: 'error',
        position: locate(root, ['now']),
        path: ['now'],
        message: `must be a time, such as ${START}`,
      },
    ]);
  const servers = await Servers.open(written.servers, new StillClock(now));
  try {
    const tree = testedTree(root, written, servers.variables);
    const recorder = new Recorder();
    const files = givenFiles(written, file);
    let opened: Bench | undefined;
    const run = async (test: Case, node: ConfigNode) => {
      if (test.daemon === true)
        return runDaemonTest(test, node, { tree, files, servers, builtin: servers.instead(builtin) });
      const bench = (opened ??= await openBench(tree, builtin, recorder));
      return { differences: await runTest(test, node, bench, { recorder, now }), secrets: bench.secrets };
    };
    return await resultsOf(root, written, run);
  } finally {
    await servers.close();
  }
}

async function resultsOf(
  root: MapNode,
  written: TestFile,
  run: (
    test: Case,
    node: ConfigNode,
  ) => Promise<{ readonly differences: readonly Difference[]; readonly secrets: readonly string[] }>,
): Promise<readonly TestResult[]> {
  const results: TestResult[] = [];
  for (const [index, test] of written.tests.entries()) {
    const path = ['tests', String(index)];
    const node = nodeAt(root, path) ?? root;
    const result = { name: test.name, position: node.position, differences: [], problem: null };
    try {
      const { differences, secrets } = await run(test, node);
      results.push({ ...result, differences: differences.map((one) => withoutSecrets(one, secrets)) });
    } catch (error) {
      if (error instanceof ConfigError) throw error;
      const place = error instanceof TestProblem ? [...path, ...error.path] : path;
      const message = error instanceof Error ? error.message : String(error);
      const problem = { severity: 'error', position: locate(root, place), path: place, message } as const;
      results.push({ ...result, problem: formatProblem(problem) });
    }
  }
  return results;
}

/**
 * Files given to daemons under test.
 *
 * @throws ConfigError if one cannot be read
 */
function givenFiles({ files }: TestFile, from: string): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(files).map(([path, { text, copy }]) => [
      path,
      text ?? (copy === undefined ? '' : readConfig(copy, from).text),
    ]),
  );
}

function withoutSecrets(difference: Difference, secrets: readonly string[]): Difference {
  const mask = (text: string) =>
    secrets.reduce((masked, secret) => masked.replaceAll(secret, '[secret]'), text);
  return { ...difference, expected: mask(difference.expected), received: mask(difference.received) };
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError([{ severity: 'error', path: [], message: `${file} cannot be read: ${reason}` }]);
  }
}
