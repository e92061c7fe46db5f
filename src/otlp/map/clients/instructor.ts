import type { Convention } from '../conventions/convention.js';

/** Instructor, which calls models for programs that name no agent. */
export const INSTRUCTOR: Convention = { agentNames: { generic: ['instructor.*'] } };
