/** What a script does with a store beside writing to it. */
type Turn = 'settle' | 'restart' | 'look';

/** A store of which files are closed and opened, and moved. */
interface Turned {
  reopen(): Promise<void>;
  settled(): Promise<void>;
}

/** Takes the steps of a script one after the other. */
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
