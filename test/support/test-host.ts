import type { Host } from '../../src/component/host.js';

/** A host for components that need nothing from it: it has no extensions. */
export function testHost(): Host {
  return {} as Host;
}
