import type { MessagePort } from 'node:worker_threads';
import type { HttpProblem } from '../../component/http.js';
import type { Kind } from '../../component/component-id.js';
import type { PluginModule } from '../../component/factory.js';
import type { Signal } from '../../signal/batch.js';

/** Names a component, and a processor together with its pipeline. */
export interface ComponentKey {
  readonly kind: Kind;
  readonly id: string;
  readonly pipeline?: string | undefined;
}

export function keyOf({ kind, id, pipeline = '' }: ComponentKey): string {
  return `${kind} ${id} ${pipeline}`;
}

/** A component for a thread, which finds its factory by the type. */
export interface CopiedComponent {
  readonly id: string;
  readonly type: string;
  readonly config: Record<string, unknown>;
  /** The plugin with the factory; absent for built-in ones. */
  readonly module?: PluginModule;
}

export interface CopiedPipeline {
  readonly name: string;
  readonly signal: Signal;
  readonly receivers: readonly CopiedComponent[];
  readonly processors: readonly CopiedComponent[];
  readonly exporters: readonly CopiedComponent[];
}

/** The data of a thread. */
export interface IntakeData {
  readonly pipelines: readonly CopiedPipeline[];
  /** For calls of copies to the components on the main thread. */
  readonly originals: MessagePort;
  /** Two numbers: that of the task that the thread works on, 0 for none, and its heap in use in KiB. */
  readonly current: Int32Array<SharedArrayBuffer>;
  readonly isDebugEnabled: boolean;
}

/** The answer to a task. */
export type TaskAnswer =
  | { readonly kind: 'done'; readonly value: unknown }
  | {
      readonly kind: 'problem';
      readonly problem: Pick<HttpProblem, 'status' | 'code' | 'message' | 'errors' | 'headers'>;
    };
