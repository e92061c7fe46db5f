import type { Host } from '../../src/component/host.js';
import type { Status } from '../../src/component/status.js';

/** A host that keeps what a component says of itself. */
export class StatusHost {
  readonly told: Status[] = [];
  readonly host: Host = {
    reportStatus: (status: Status) => {
      this.told.push(status);
    },
  } as Host;

  get last(): Status | undefined {
    return this.told.at(-1);
  }
}
