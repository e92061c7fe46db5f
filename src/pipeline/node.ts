import type { Component } from '../component/component.js';
import type { Kind } from '../component/component-id.js';
import type { Logger } from '../component/telemetry.js';

/** One instance of a component in the running daemon. */
export interface Node {
  readonly kind: Kind;
  /** As in the configuration. */
  readonly id: string;
  /** Processors only: the pipeline it was created for. */
  readonly pipeline?: string;
  /** Replaced by a reload that has to stop it and cannot start its successor. */
  component: Component;
  readonly logger: Logger;
}

/** `receiver "trace_batch"`, `processor "validation" in pipeline "traces"` */
export function nameOf(node: Pick<Node, 'kind' | 'id' | 'pipeline'>): string {
  const place = node.pipeline === undefined ? '' : ` in pipeline "${node.pipeline}"`;
  return `${node.kind} "${node.id}"${place}`;
}
