import { write, writeSeveral, type Grammar } from '../grammar.js';
import { MODELS } from '../models.js';
import { drawVerdict, type AgentProfile } from '../profile.js';
import type { Recorder } from '../recorder.js';
import { VOCABULARY } from '../vocabulary.js';

const GRAMMAR = {
  ...VOCABULARY,
  question: [
    'How has {topic} changed in {country} since {2015-2022}, and what explains the difference to {country}?',
    'Give me an overview of {topic}: who are the main players, what are the costs, and where do experts disagree?',
    'Is {topic} a realistic option for a company like {company} with {40-900} employees? List arguments for and against, with sources.',
  ],
  topic: [
    'heat pump adoption in old buildings',
    'sodium-ion batteries for grid storage',
    'four-day work weeks',
    'rail freight across borders',
    'vertical farming',
    'small modular reactors',
    'digital product passports',
    'urban bike sharing',
    'municipal fibre networks',
    'offshore wind auctions',
  ],
  aspect: [
    'current figures and trends',
    'regulation and subsidies',
    'costs and financing',
    'main suppliers',
    'criticism and risks',
    'case studies',
  ],
  sentence: [
    'Adoption grew from {3-12} % in {2016-2019} to {14-41} % in {2023-2025}, though the two surveys do not count alike.',
    'The largest programme, in {country}, paid {200-900} million euros over {3-8} years and missed its target by {5-30} %.',
    'Unit costs fell by {8-40} % in {2-6} years, mostly through larger batches and not through better technology.',
    'Two independent evaluations found smaller effects than the operators report ({2-6} % instead of {8-19} %).',
    'Permits take {9-40} months on average, which several authors name as the main bottleneck.',
    'Interview partners in {city} and {city} point to a shortage of trained staff rather than of capital.',
    'Results from {country} do not transfer directly: prices for electricity differ by a factor of {2-4}.',
    'A meta-analysis of {11-64} studies finds a moderate effect that shrinks over time.',
    '{company} announced a second site near {city}, with {60-400} jobs and a start in {2026-2028}.',
  ],
  domain: [
    'statistics.example.org',
    'journal.example.net',
    'news.example.com',
    'agency.example.eu',
    'thinktank.example.org',
  ],
} satisfies Grammar;

const PLAN =
  'You plan research. Split the question into two to four independent parts which can be looked up in parallel, and say for each what a good source would be. Answer with a JSON list.';
const SUMMARISE =
  'Summarise what the sources say about the part of the question given. Keep figures with their year and source. Say so when sources contradict each other or when nothing was found.';
const SYNTHESISE =
  'You write the final report from the notes of your researchers. Begin with the answer in two sentences. Every figure needs a source from the notes; do not add knowledge of your own. Close with what remains open.';

function lookUp(recorder: Recorder, question: string, aspect: string): void {
  const { random } = recorder;
  recorder.agent('web-researcher', { aspect }, (span) => {
    recorder.tool('web_search', { query: `${write(random, GRAMMAR, '{topic}')} ${aspect}`, limit: 8 }, () => {
      recorder.http({ method: 'GET', url: 'https://search.example.com/v1/web?q=…', ms: 380 });
      return { results: random.integer(3, 8) };
    });
    const pages = random.integer(1, 3);
    for (let page = 0; page < pages; page += 1) {
      const url = `https://${write(random, GRAMMAR, '{domain}')}/articles/${random.integer(1000, 99_999)}`;
      recorder.survives(() => {
        recorder.http({
          method: 'GET',
          url,
          ms: 700,
          response: { content_type: 'text/html', bytes: random.integer(9_000, 240_000) },
        });
      });
    }
    recorder.model({
      model: MODELS.gpt5Mini,
      name: 'summarise sources',
      system: SUMMARISE,
      prompt: `Question: ${question}\nPart: ${aspect}`,
      completion: writeSeveral(random, GRAMMAR, 'sentence', random.integer(2, 4)),
      contextTokens: 6500 * pages,
      reasoningTokens: 300,
    });
    span.output = { sources: pages };
  });
}

function run(recorder: Recorder) {
  const { random } = recorder;
  const question = write(random, GRAMMAR, '{question}');
  return recorder.agent('research-assistant', { question }, (root) => {
    const aspects = random.sample(GRAMMAR.aspect, random.integer(2, 4));
    recorder.model({
      model: MODELS.gpt5,
      name: 'plan',
      system: PLAN,
      prompt: question,
      completion: JSON.stringify(aspects),
      reasoningTokens: 700,
    });
    recorder.parallel(
      aspects.map((aspect) => () => {
        lookUp(recorder, question, aspect);
      }),
    );
    const report = `${writeSeveral(random, GRAMMAR, 'sentence', random.integer(3, 7))}\n\nOpen: ${write(random, GRAMMAR, '{sentence}')}`;
    recorder.model({
      model: MODELS.gpt5,
      fallback: MODELS.geminiPro,
      name: 'write report',
      system: SYNTHESISE,
      prompt: question,
      completion: report,
      contextTokens: 3800,
      reasoningTokens: 1500,
    });
    if (random.chance(0.4)) {
      recorder.custom('check citations', { figures: random.integer(4, 18) }, (span) => {
        recorder.pass(60);
        span.output = { unsupported: random.integer(0, 2) };
      });
    }
    root.output = { sections: aspects.length + 1 };
    return drawVerdict(recorder, [
      { outcome: 'answered', success: true, weight: 68 },
      { outcome: 'partial_answer', success: true, weight: 14 },
      { outcome: 'insufficient_sources', success: false, weight: 12 },
      { outcome: 'not_rated', weight: 10 },
    ]);
  });
}

/** Looks things up with several researchers at once and writes a report. */
export const researchAssistant: AgentProfile = {
  name: 'research-assistant',
  weight: 10,
  rhythm: 'office',
  sdkVersion: '0.4.0',
  metadata: { environment: 'production', team: 'strategy', region: 'eu-central-1' },
  run,
};
