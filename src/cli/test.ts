import { Command } from 'commander';
import type { Factory } from '../component/factory.js';
import { ConfigError, formatPosition, formatProblem } from '../config/config-error.js';
import { counted } from '../api/support/counted.js';
import { EXIT } from './exit-codes.js';
import type { CliIo } from './io.js';
import { printable, showJson } from './table.js';
import { findTestFiles } from './yaml-tests/find-files.js';
import { runFile, type TestResult } from './yaml-tests/run-file.js';

const HELP = `
A test file has a configuration or its own components, and tests. Tests of a chain of processors list the input and the expected output:
items that pass, are dropped or refused, are passed to an exporter, or are sent by an exporter of type http. Nothing is sent or stored,
and time passes only where a test sets it. Tests of a daemon (daemon: true) start one in a temporary directory and list what is sent to
it, and its expected responses, rows, log lines and requests to servers of the test. Environment variables are set under env. See
src/cli/tests.md for the file format.

Exit codes:
  0    all tests passed
  1    a test failed
  2    a file is missing, or a directory has no *.test.yaml
  78   a test file or its configuration is invalid`;

interface FileResult {
  readonly file: string;
  readonly tests: readonly TestResult[];
  /** The problems of the file, one line each. */
  readonly problems: readonly string[];
}

/**
 * `jackdaw test`.
 *
 * @param exit sets the exit code
 */
export function testCommand(io: CliIo, builtin: readonly Factory[], exit: (code: number) => void): Command {
  return new Command('test')
    .description('Run YAML tests of pipelines, plugins, templates and daemons.')
    .argument('<files...>', 'test files, or directories with *.test.yaml files')
    .option('--json', 'print JSON')
    .addHelpText('after', HELP)
    .action(async (paths: readonly string[], options: { readonly json?: boolean }) => {
      const results: FileResult[] = [];
      for (const file of findTestFiles(paths)) {
        const result = await resultOf(file, builtin);
        results.push(result);
        if (options.json !== true) print(io, result);
      }
      if (options.json === true) showJson(io, results.flatMap(rowsOf));
      else summarize(io, results);
      if (results.some(({ problems }) => problems.length > 0)) exit(EXIT.configuration);
      else if (results.some(({ tests }) => tests.some(hasFailed))) exit(EXIT.failure);
    });
}

async function resultOf(file: string, builtin: readonly Factory[]): Promise<FileResult> {
  try {
    return { file, tests: await runFile(file, builtin), problems: [] };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { file, tests: [], problems: error.problems.map(formatProblem) };
  }
}

function hasFailed({ differences, problem }: TestResult): boolean {
  return differences.length > 0 || problem !== null;
}

function print(io: CliIo, { tests, problems, file }: FileResult): void {
  io.out(file);
  for (const problem of problems) io.err(printable(problem));
  for (const test of tests) {
    io.out(`  ${hasFailed(test) ? '✗' : '✓'} ${printable(test.name)}`);
    if (test.problem !== null) io.out(`      ${printable(test.problem)}`);
    for (const { position, path, expected, received } of test.differences) {
      io.out(`      ${formatPosition(position)}: ${printable(path)}`);
      io.out(`        expected  ${printable(expected)}`);
      io.out(`        received  ${printable(received)}`);
    }
  }
}

function summarize(io: CliIo, results: readonly FileResult[]): void {
  const tests = results.flatMap((result) => result.tests);
  const failed = tests.filter(hasFailed).length;
  const broken = results.filter(({ problems }) => problems.length > 0).length;
  const parts = [`${tests.length - failed} passed`, `${failed} failed`];
  if (broken > 0) parts.push(`${counted(broken, 'file')} cannot be used`);
  io.out(`${counted(tests.length, 'test')} in ${counted(results.length, 'file')}: ${parts.join(', ')}`);
}

function rowsOf({ file, tests, problems }: FileResult): readonly object[] {
  return [
    ...problems.map((problem) => ({ file, name: null, ok: false, problem, differences: [] })),
    ...tests.map((test) => ({
      file,
      line: test.position.line,
      name: test.name,
      ok: !hasFailed(test),
      problem: test.problem,
      differences: test.differences.map(({ position, ...difference }) => ({
        line: position.line,
        ...difference,
      })),
    })),
  ];
}
