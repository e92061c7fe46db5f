/** Steps of a script other than writes. */
type Turn = 'settle' | 'restart' | 'look';

/** A store whose files can be closed, reopened and compacted. */
interface Turned {
  reopen(): Promise<void>;
  settled(): Promise<void>;
}

/** Runs the steps of a script in order. */
export async function playSteps<Write>(
  opened: Turned,
  steps: readonly (Write | Turn)[],
  { look, write }: { readonly look: () => Promise<void>; readonly write: (step: Write) => Promise<void> },
): Promise<void> {
  for (const step of steps) {
    if (step === 'settle') await opened.settled();
    else if (step === 'restart') await opened.reopen();
    else if (step === 'look') await look();
    else await write(step);
  }
}
