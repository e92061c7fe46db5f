import { placesOf, type LinkedNodes, type Place, type Shape } from './layout.js';

/** What is to be laid out, as `placesOf` takes it. */
export interface LayoutTask {
  readonly graph: LinkedNodes;
  readonly aspect: number;
  readonly shape: Shape;
}

export type LayoutAnswer = ReadonlyMap<string, Place>;

// Hundreds of nodes take seconds, in which a page would stand still.
addEventListener('message', ({ data: { graph, aspect, shape } }: MessageEvent<LayoutTask>) => {
  postMessage(placesOf(graph, aspect, shape) satisfies LayoutAnswer);
});
