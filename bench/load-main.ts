import { LoadGenerator } from './load-generator.js';
import type { LoadCommand, LoadReport } from './load-plan.js';

const PROGRESS_MS = 50;

// Main file of LoadProcess (load-process.ts).
let generator: LoadGenerator | undefined;

process.on('message', (message) => {
  const command = message as LoadCommand;
  switch (command.kind) {
    case 'prepare':
      generator = new LoadGenerator(command.plan);
      report({ kind: 'ready' });
      return;
    case 'go':
      void run();
      return;
    case 'stop':
      generator?.stop();
  }
});
// A terminal sends SIGINT to the whole process group; the bench sends `stop` instead.
process.on('SIGINT', () => undefined);
// Without the bench, the result is of no use.
process.on('disconnect', () => process.exit());

async function run(): Promise<void> {
  const progress = setInterval(() => {
    report({ kind: 'progress', acknowledgedItems: generator?.acknowledgedItems ?? 0 });
  }, PROGRESS_MS);
  const result = await generator?.run(() => {
    report({ kind: 'measuring' });
  });
  clearInterval(progress);
  if (result) report({ kind: 'done', result });
  process.disconnect();
}

function report(message: LoadReport): void {
  process.send?.(message);
}
