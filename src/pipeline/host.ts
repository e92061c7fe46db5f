import type { Authenticator } from '../auth/authenticator.js';
import type { SecretBoxes } from '../auth/secret-boxes.js';
import type { DaemonView } from '../component/daemon-view.js';
import type { Host } from '../component/host.js';
import type { SmtpSettings } from '../component/smtp.js';
import type { Rejections } from '../component/rejections.js';
import type { UserLimits } from '../component/user-limits.js';
import type { IntakeThreads } from './intake/intake-threads.js';
import type { Listeners } from './listeners.js';
import { nameOf, type Node } from './node.js';
import type { OfferedPrices } from './offered-prices.js';
import type { StatusBoard } from './status.js';
import type { TracedStores } from './traced-stores.js';

/** Services shared by the hosts of all components. */
export interface HostParts {
  readonly extensions: readonly Node[];
  readonly listeners: Listeners;
  readonly identity: Authenticator;
  readonly secretBoxes: SecretBoxes;
  readonly userLimits: UserLimits;
  readonly rejections: Rejections;
  readonly prices: OfferedPrices;
  readonly smtp: SmtpSettings | null;
  readonly status: StatusBoard;
  readonly daemon: DaemonView;
  /** Absent in commands that only open stores. */
  readonly intake?: IntakeThreads;
  /** Absent if the daemon does not trace itself. */
  readonly tracedStores?: TracedStores | undefined;
}

/** Creates the daemon's interface for one component. */
export function createHost(node: Node, parts: HostParts): Host {
  const { extensions, listeners, identity, secretBoxes, smtp, status } = parts;
  const { userLimits, rejections, prices, daemon } = parts;
  return {
    extension(id, isWanted) {
      const found = extensions.find((extension) => extension.id === id);
      if (!found)
        throw new Error(
          `There is no extension "${id}": configure it under extensions and list it in service.extensions`,
        );
      const { component } = found;
      if (!isWanted(component))
        throw new Error(`Extension "${id}" is not what ${nameOf(node)} needs: name another one`);
      return parts.tracedStores?.of(found.id, component) ?? component;
    },
    listener: (endpoint, options = {}) => listeners.get(endpoint, options, node.kind === 'receiver'),
    announce: (endpoint, address, paths) => {
      listeners.announce(endpoint, address, paths);
    },
    authenticate: identity.authenticate,
    identityNow: identity.identityNow,
    browserLogins: (site) => identity.letIn(site),
    refreshKeys: () => identity.refresh(),
    secretBox: (directory) => secretBoxes.at(directory),
    trustedProxies: listeners.proxies,
    userLimits,
    rejections,
    prices: prices.seenFrom(node.pipeline),
    smtp,
    reportStatus: (reported) => {
      status.report(node, reported);
    },
    health: () => status.health(),
    daemon,
    intake: parts.intake?.ofReceiver(node),
    copies: parts.intake?.copiesOf(node),
  };
}
