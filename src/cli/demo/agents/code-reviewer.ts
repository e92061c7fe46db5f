import { write, writeSeveral, type Grammar } from '../grammar.js';
import { MODELS } from '../models.js';
import { drawVerdict, type AgentProfile } from '../profile.js';
import type { Random } from '../random.js';
import type { Recorder } from '../recorder.js';
import { VOCABULARY } from '../vocabulary.js';

const GRAMMAR = {
  ...VOCABULARY,
  path: [
    'src/{module}/{file}.ts',
    'packages/{module}/src/{file}.ts',
    'services/{service}/{file}.go',
    'lib/{module}/{file}.py',
  ],
  module: ['auth', 'billing', 'cache', 'export', 'imports', 'ledger', 'queue', 'reports', 'session'],
  file: ['retry', 'parser', 'scheduler', 'mapper', 'handler', 'validator', 'pool', 'client', 'migration'],
  title: [
    'Retry failed {module} jobs with jitter',
    'Move {module} to the new {file}',
    'Fix race in {module}/{file}',
    'Add pagination to the {service} API',
    'Drop the legacy {module} {file}',
    'Speed up {service} start',
  ],
  hunk: [
    '@@ -{12-90},{4-9} +{12-90},{6-14} @@\n-  const result = await {module}Client.fetch(id);\n+  const result = await withRetry(() => {module}Client.fetch(id), { attempts: {2-6} });\n+  if (!result) return undefined;\n   return result.items;\n',
    '@@ -{100-300},{3-8} +{100-300},{5-12} @@\n+func (s *{module}Store) Expire(ctx context.Context, before time.Time) (int64, error) {\n+\tres, err := s.db.ExecContext(ctx, expireSQL, before)\n+\tif err != nil {\n+\t\treturn 0, fmt.Errorf("expire {module}: %w", err)\n+\t}\n+\treturn res.RowsAffected()\n+}\n',
    '@@ -{20-80},{3-5} +{20-80},{4-9} @@\n-    for row in rows:\n-        {module}.append(parse(row))\n+    with closing(open_pool(size={4-32})) as pool:\n+        {module} = list(pool.map(parse, rows))\n     return {module}\n',
  ],
  finding: [
    '**{severity}** `{path}:{10-400}`: the retry swallows the last error, so callers see `undefined` instead of the cause. Rethrow after the last attempt.',
    '**{severity}** `{path}:{10-400}`: this query runs once per row. With {200-5000} rows that is {200-5000} round trips; fetch them in one statement.',
    '**{severity}** `{path}:{10-400}`: the context is not passed on, so a cancelled request keeps the connection busy.',
    '**{severity}** `{path}:{10-400}`: `{file}` is shared between requests and changed without a lock.',
    '**{severity}** `{path}:{10-400}`: the new branch has no test; the old one was covered by `{file}.test`.',
    '**{severity}** `{path}:{10-400}`: name says seconds, value is milliseconds.',
  ],
  severity: ['nit', 'minor', 'major', 'major', 'blocker'],
} satisfies Grammar;

const SYSTEM =
  'You review pull requests. Point out defects that would bite in production: lost errors, races, missing limits, queries in loops, broken compatibility. Leave style to the linter. Quote path and line, say what happens and what to do instead, one paragraph a finding. If the change is fine, say so in one sentence.';

/** Most changes of a file are small; some are not. */
function diff(random: Random): string {
  const hunks = random.chance(0.15) ? random.integer(4, 9) : random.integer(1, 3);
  return Array.from({ length: hunks }, () => write(random, GRAMMAR, '{hunk}')).join('');
}

function run(recorder: Recorder) {
  const { random } = recorder;
  const number = random.integer(800, 9_999);
  const repository = `${write(random, GRAMMAR, '{service}')}-service`;
  const host = 'https://git.example.com/api/v3/repos/acme';
  return recorder.agent(
    'code-reviewer',
    { repository, pull_request: number, title: write(random, GRAMMAR, '{title}') },
    (root) => {
      recorder.http({ method: 'GET', url: `${host}/${repository}/pulls/${number}`, ms: 160 });
      recorder.http({
        method: 'GET',
        url: `${host}/${repository}/pulls/${number}/files`,
        ms: 210,
        response: { files: random.integer(1, 14) },
      });
      recorder.tool('run_linter', { paths: random.integer(1, 14) }, () => {
        recorder.pass(2600, 0.5);
        return { exit_code: random.pick([0, 0, 0, 1]), warnings: random.integer(0, 9) };
      });
      const files = random.integer(1, 4);
      let findings = 0;
      for (let file = 0; file < files; file += 1) {
        const count = random.integer(0, 2);
        findings += count;
        const path = write(random, GRAMMAR, '{path}');
        recorder.model({
          model: random.chance(0.25) ? MODELS.opus : MODELS.sonnet,
          name: 'review file',
          system: SYSTEM,
          prompt: `--- a/${path}\n+++ b/${path}\n${diff(random)}`,
          completion:
            count === 0
              ? 'The change does what it says; I have nothing to add.'
              : writeSeveral(random, GRAMMAR, 'finding', count, '\n\n'),
          contextTokens: 2600,
        });
        if (random.chance(0.3)) {
          recorder.tool('find_references', { symbol: write(random, GRAMMAR, '{module}Client') }, () => {
            recorder.pass(420);
            return { references: random.integer(0, 40) };
          });
        }
      }
      recorder.http({
        method: 'POST',
        url: `${host}/${repository}/pulls/${number}/reviews`,
        ms: 240,
        request: { comments: findings },
      });
      root.output = { findings };
      return drawVerdict(recorder, [
        { outcome: findings === 0 ? 'approved' : 'changes_requested', success: true, weight: 70 },
        { outcome: 'dismissed_by_author', success: false, weight: 12 },
        { outcome: 'no_reaction', weight: 18 },
      ]);
    },
  );
}

/** Reviews pull requests file by file. */
export const codeReviewer: AgentProfile = {
  name: 'code-reviewer',
  weight: 12,
  rhythm: 'office',
  sdkVersion: '0.3.7',
  metadata: { environment: 'production', team: 'developer-experience', runner: 'ci' },
  run,
};
