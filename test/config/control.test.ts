import t from 'tap';
import { startTestDaemon } from '../support/daemon.js';

void t.test('a missing or unusable control store stops the start with a clear error', async (t) => {
  const start = (control: string) =>
    startTestDaemon(t, { overlay: `extensions: { query: { control: ${control} } }` });
  await t.rejects(start('postgres'), {
    message:
      /^overlay\.yaml:1:24: error: extensions\.query\.control: there is no extension "postgres" in service\.extensions/,
  });
  await t.rejects(start('health'), {
    message: /Extension "health" is not what extension "query" needs: name another one/,
  });
});
