/** A language model with what its provider asks for it, and how fast it is. */
export interface Model {
  readonly name: string;
  readonly provider: 'anthropic' | 'openai' | 'google';
  /** USD per million tokens, which is micro-USD per token. Null where nobody has a price for it. */
  readonly inputPrice: number | null;
  readonly outputPrice: number | null;
  /** Median time to the first token. */
  readonly firstTokenMs: number;
  readonly tokensPerSecond: number;
}

/** List prices of late 2025, rounded; the demo does not bill anybody. */
export const MODELS = {
  opus: {
    name: 'claude-opus-4-5',
    provider: 'anthropic',
    inputPrice: 5,
    outputPrice: 25,
    firstTokenMs: 1400,
    tokensPerSecond: 62,
  },
  sonnet: {
    name: 'claude-sonnet-4-5',
    provider: 'anthropic',
    inputPrice: 3,
    outputPrice: 15,
    firstTokenMs: 900,
    tokensPerSecond: 74,
  },
  haiku: {
    name: 'claude-haiku-4-5',
    provider: 'anthropic',
    inputPrice: 1,
    outputPrice: 5,
    firstTokenMs: 420,
    tokensPerSecond: 145,
  },
  gpt5: {
    name: 'gpt-5',
    provider: 'openai',
    inputPrice: 1.25,
    outputPrice: 10,
    firstTokenMs: 2100,
    tokensPerSecond: 88,
  },
  gpt5Mini: {
    name: 'gpt-5-mini',
    provider: 'openai',
    inputPrice: 0.25,
    outputPrice: 2,
    firstTokenMs: 800,
    tokensPerSecond: 120,
  },
  gpt41: {
    name: 'gpt-4.1',
    provider: 'openai',
    inputPrice: 2,
    outputPrice: 8,
    firstTokenMs: 620,
    tokensPerSecond: 95,
  },
  geminiPro: {
    name: 'gemini-2.5-pro',
    provider: 'google',
    inputPrice: 1.25,
    outputPrice: 10,
    firstTokenMs: 1800,
    tokensPerSecond: 110,
  },
  geminiFlash: {
    name: 'gemini-2.5-flash',
    provider: 'google',
    inputPrice: 0.3,
    outputPrice: 2.5,
    firstTokenMs: 380,
    tokensPerSecond: 210,
  },
  /** Trained by the team itself. */
  ownModeration: {
    name: 'acme-moderation-7b',
    provider: 'openai',
    inputPrice: null,
    outputPrice: null,
    firstTokenMs: 180,
    tokensPerSecond: 160,
  },
} as const satisfies Record<string, Model>;
