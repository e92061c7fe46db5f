import type { Host } from '../../src/component/host.js';
import type { Status } from '../../src/component/status.js';

/** A host that records component statuses. */
export class StatusHost {
  readonly statuses: Status[] = [];
  readonly host: Host = {
    reportStatus: (status: Status) => {
      this.statuses.push(status);
    },
  } as Host;

  get last(): Status | undefined {
    return this.statuses.at(-1);
  }
}
