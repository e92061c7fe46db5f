import { hasFailed, type RunSpan } from '../../trace/span.js';
import type { TreeNode } from '../../trace/tree.js';

interface Common {
  /** Index of the span. */
  readonly index: number;
  /** Agents and calls around it that have a part of the conversation of their own. */
  readonly level: number;
  /** Whether the error of the span is shown here, because it is not shown further down. */
  readonly hasError: boolean;
}

/** A part of a run as people read it. Payloads are loaded when a step is displayed. */
export type Step =
  /** Input of the run. */
  | (Common & { readonly kind: 'question' })
  | (Common & Turn)
  /** `part`: call and result are apart if there is a conversation in between. */
  | (Common & { readonly kind: 'tool'; readonly part: 'whole' | 'call' | 'result' })
  /** An agent called by another, with its input. */
  | (Common & { readonly kind: 'agent' })
  /** Output of an agent without model calls. */
  | (Common & { readonly kind: 'agent_result' })
  /** A failed span that is no model or tool call. */
  | (Common & { readonly kind: 'error' })
  /** Consecutive spans that say nothing. */
  | (Common & { readonly kind: 'others'; readonly indexes: readonly number[] })
  /** Output of the run. `last`: payload of the last turn, which often contains it. */
  | (Common & { readonly kind: 'answer'; readonly last: number | undefined });

/** A model call. */
export interface Turn {
  readonly kind: 'turn';
  /** Index of the span with the messages: the call, or a duplicate of it that has more. */
  readonly payload: number;
  /** Payload of the call before it in the same agent, or else in the run; its messages are history. */
  readonly before: number | undefined;
  /** Span whose input the first call of an agent repeats. */
  readonly caller: number | undefined;
  /** Whether tool calls have steps of their own between the call before and this one. */
  readonly isAfterTools: boolean;
  /** Names of the tools that follow as steps of their own. */
  readonly tools: readonly string[];
}

type Building<Of> = { -readonly [Key in keyof Of]: Of[Key] };
type BuildingTurn = Building<Turn> & { tools: string[] };

/** The model calls of an agent so far. */
interface Scope {
  readonly caller: number | undefined;
  last: BuildingTurn | undefined;
  hasTools: boolean;
}

/** A span whose children are being read. */
interface Frame {
  readonly node: TreeNode;
  readonly level: number;
  readonly scope: Scope;
  /** Spans in a model or tool call are its implementation. */
  readonly isInCall: boolean;
  /** Steps and errors before it. */
  readonly firstStep: number;
  readonly firstError: number;
  readonly turns: number;
}

/** The steps of a run in reading order, from its spans without payloads. */
export function stepsOf(nodes: readonly TreeNode[]): readonly Step[] {
  return new Reader(nodes).read();
}

/** Whether the steps tell more than which spans there are. */
export function isConversation(steps: readonly Step[]): boolean {
  return steps.some(({ kind }) => kind !== 'others' && kind !== 'error');
}

class Reader {
  private readonly steps: Building<Step>[] = [];
  private readonly errors: string[] = [];
  private readonly frames: Frame[] = [];
  /** Duplicates with a payload, by the counted span. */
  private readonly fuller = new Map<string, number>();
  private turns = 0;
  private hasTools = false;
  private lastTurn: BuildingTurn | undefined;
  private readonly nodes: readonly TreeNode[];

  constructor(nodes: readonly TreeNode[]) {
    this.nodes = nodes;
    for (const { span, index } of nodes)
      if (!span.counted && span.sameAs !== null && hasPayload(span)) this.fuller.set(span.sameAs, index);
  }

  read(): readonly Step[] {
    for (const node of this.nodes) {
      this.closeUntil(node.index);
      this.open(node);
    }
    this.closeUntil(this.nodes.length);
    return this.steps;
  }

  private closeUntil(index: number): void {
    for (
      let frame = this.frames.at(-1);
      frame && frame.node.subtreeEnd <= index;
      frame = this.frames.at(-1)
    ) {
      this.frames.pop();
      this.close(frame);
    }
  }

  private open(node: TreeNode): void {
    const { span, index } = node;
    const outer = this.frames.at(-1);
    const level = outer === undefined ? 0 : outer.level;
    const scope = outer?.scope ?? newScope(undefined);
    switch (span.type) {
      case 'llm':
        if (!span.counted || this.isPart(node, outer)) return;
        this.addTurn(node, level, scope);
        this.enter(node, level + 1, scope, true);
        return;
      case 'tool':
        if (!span.counted) return;
        this.addTool(node, level, scope);
        this.enter(node, level + 1, newScope(index), true);
        return;
      default:
        if (outer === undefined) {
          if (
            span.inputBytes !== null &&
            span.type !== 'db' &&
            (span.type === 'agent' || node.children.length > 0)
          )
            this.steps.push({ kind: 'question', index, level, hasError: false });
          else if (node.children.length === 0) this.addOther(node, level, false);
          this.enter(node, level, newScope(index), false);
        } else if (span.type === 'agent') {
          this.steps.push({ kind: 'agent', index, level, hasError: false });
          this.enter(node, level + 1, newScope(index), false);
        } else this.addOther(node, level, outer.isInCall);
    }
  }

  /** Whether a call is the only one in another, which says the same: a wrapper and the client it calls. */
  private isPart({ span, index, subtreeEnd }: TreeNode, outer: Frame | undefined): boolean {
    const around = outer?.node;
    if (around?.span.type !== 'llm' || (hasFailed(span) && !hasFailed(around.span))) return false;
    const hasOthers = this.nodes
      .slice(around.index + 1, around.subtreeEnd)
      .some((each) => isCounted(each) && (each.subtreeEnd <= index || each.index >= subtreeEnd));
    const turn = outer?.scope.last;
    // The wrapper may have no messages of its own.
    if (!hasOthers && turn?.payload === around.index && !hasPayload(around.span) && hasPayload(span))
      turn.payload = index;
    return !hasOthers;
  }

  private enter(node: TreeNode, level: number, scope: Scope, isInCall: boolean): void {
    const [firstStep, firstError, turns] = [this.steps.length, this.errors.length, this.turns];
    this.frames.push({ node, level, scope, isInCall, firstStep, firstError, turns });
  }

  private addTurn({ span, index }: TreeNode, level: number, scope: Scope): void {
    const turn: BuildingTurn = {
      kind: 'turn',
      payload: hasPayload(span) ? index : (this.fuller.get(span.id) ?? index),
      before: (scope.last ?? this.lastTurn)?.payload,
      caller: scope.last === undefined ? scope.caller : undefined,
      // Graphs wrap each call in an agent of its own.
      isAfterTools: scope.hasTools || (scope.last === undefined && this.hasTools),
      tools: [],
    };
    const step = { index, level, hasError: hasFailed(span), ...turn };
    if (step.hasError) this.errors.push(span.error ?? '');
    // The list of tools is filled by the steps that follow.
    step.tools = turn.tools;
    this.steps.push(step);
    scope.last = step;
    scope.hasTools = false;
    this.hasTools = false;
    this.lastTurn = step;
    this.turns += 1;
  }

  private addTool({ span, index }: TreeNode, level: number, scope: Scope): void {
    const hasError = hasFailed(span);
    this.steps.push({ kind: 'tool', index, level, hasError, part: 'whole' });
    if (hasError) this.errors.push(span.error ?? '');
    for (const turn of new Set([scope.last, this.lastTurn])) turn?.tools.push(span.name);
    scope.hasTools = true;
    this.hasTools = true;
  }

  private addOther(node: TreeNode, level: number, isInCall: boolean): void {
    const { span, index, failedBelow } = node;
    if (hasFailed(span) && failedBelow === 0) {
      const call = this.frames.findLast(({ node: { span: around } }) => isCall(around.type));
      if ((call && hasFailed(call.node.span)) || (!span.error && this.errors.length > 0)) return;
      this.steps.push({ kind: 'error', index, level, hasError: true });
      this.errors.push(span.error ?? '');
      return;
    }
    const isInner = span.type === 'custom' && this.nodes[node.parent]?.span.type === 'custom';
    if (isInCall || isInner || node.children.length > 0) return;
    const before = this.steps.at(-1);
    if (before?.kind === 'others' && before.level === level) before.indexes = [...before.indexes, index];
    else this.steps.push({ kind: 'others', index, level, hasError: false, indexes: [index] });
  }

  private close({ node, level, firstStep, firstError, turns }: Frame): void {
    const { span, index, parent } = node;
    const isRoot = parent < 0;
    const hasInner = this.steps.length > firstStep;
    if (span.type === 'llm') return;
    if (span.type === 'tool') {
      const call = this.steps[firstStep - 1];
      if (!hasInner || call?.kind !== 'tool') return;
      call.part = 'call';
      const hasError = call.hasError && !this.isShown(span.error, firstError);
      call.hasError = false;
      this.steps.push({ kind: 'tool', index, level: level - 1, hasError, part: 'result' });
      return;
    }
    const hasError = hasFailed(span) && !this.isShown(span.error, firstError);
    if (hasError) this.errors.push(span.error ?? '');
    if (isRoot) this.closeRoot(node, hasError, this.turns > turns);
    else if (hasError) this.steps.push({ kind: 'error', index, level, hasError });
    else if (this.turns === turns && span.outputBytes !== null)
      this.steps.push({ kind: 'agent_result', index, level, hasError });
  }

  private closeRoot({ span, index, children }: TreeNode, hasError: boolean, hasTurns: boolean): void {
    const last = hasTurns ? this.lastTurn : undefined;
    if (hasError && (span.type === 'agent' || children.length > 0))
      this.steps.push({ kind: 'error', index, level: 0, hasError });
    if (span.outputBytes === null || (span.type !== 'agent' && children.length === 0)) return;
    this.steps.push({ kind: 'answer', index, level: 0, hasError: false, last: last?.payload });
  }

  /** Whether an error repeats one that was shown since. Agents pass on the errors of their calls. */
  private isShown(error: string | null, since: number): boolean {
    if (this.errors.length === since) return false;
    if (error === null || error === '') return true;
    return this.errors
      .slice(since)
      .some((each) => each !== '' && (each.includes(error) || error.includes(each)));
  }
}

function newScope(caller: number | undefined): Scope {
  return { caller, last: undefined, hasTools: false };
}

function isCounted({ span }: TreeNode): boolean {
  return span.type === 'llm' && span.counted;
}

function hasPayload({ inputBytes, outputBytes }: RunSpan): boolean {
  return (inputBytes ?? outputBytes) !== null;
}

function isCall(type: string): boolean {
  return type === 'llm' || type === 'tool';
}
