import { write, writeSeveral, type Grammar } from '../grammar.js';
import { MODELS } from '../models.js';
import { drawVerdict, type AgentProfile } from '../profile.js';
import type { Random } from '../random.js';
import type { Recorder } from '../recorder.js';
import { VOCABULARY } from '../vocabulary.js';

const GRAMMAR = {
  ...VOCABULARY,
  utterance: [
    '{first_name}: Right, so the {service} migration slipped by {2-9} days, mostly because the test data came late.',
    '{first_name}: I can take that, but not before {weekday}.',
    '{first_name}: Do we have a number for {company}? Last time it was {amount}.',
    '{first_name}: Sorry, you were muted.',
    '{first_name}: I would rather ship the smaller version in {month} than wait for everything.',
    '{first_name}: Let us park this and ask {person}, who ran it in {city}.',
    '{first_name}: Agreed. So no change to the price of the {product} until {month}.',
    '{first_name}: We lost {2-12} % there, and nobody noticed for {2-5} weeks, which is the real problem.',
    '{first_name}: Can somebody write that down, please?',
  ],
  note: [
    'The {service} migration moves to {month} {1-28}.',
    '{company} gets an offer over {amount}; owner {first_name}, due {weekday}.',
    'The smaller version of the {product} ships in {month}.',
    'Open question: who watches the figures of {service}?',
    '{person} is asked about the experience in {city}.',
  ],
} satisfies Grammar;

const CHUNK =
  'Summarise this part of a meeting in at most five bullet points. Keep names, dates and amounts exactly as said. Leave out small talk.';
const MERGE =
  'Merge the notes of all parts into minutes: decisions, tasks (owner, due date), open questions. Do not repeat yourself; if two parts contradict each other, the later one holds.';

function transcript(random: Random): string {
  const utterances = random.integer(4, 16);
  return Array.from({ length: utterances }, () => write(random, GRAMMAR, '{utterance}')).join('\n');
}

function run(recorder: Recorder) {
  const { random } = recorder;
  const minutes = random.integer(14, 75);
  return recorder.agent(
    'meeting-scribe',
    { recording: `m-${random.uint32().toString(36)}.opus`, minutes },
    (root) => {
      recorder.custom('transcribe', { model: 'whisper-large-v3', language: 'auto' }, (span) => {
        recorder.pass(minutes * 420);
        span.output = { words: minutes * random.integer(110, 150), speakers: random.integer(2, 7) };
      });
      const parts = Math.ceil(minutes / 20);
      recorder.parallel(
        Array.from({ length: parts }, (_, part) => () => {
          recorder.model({
            model: MODELS.geminiFlash,
            fallback: MODELS.haiku,
            name: `summarise part ${part + 1}`,
            system: CHUNK,
            prompt: transcript(random),
            completion: `- ${writeSeveral(random, GRAMMAR, 'note', random.integer(2, 4), '\n- ')}`,
            contextTokens: 2400,
          });
        }),
      );
      recorder.model({
        model: MODELS.geminiPro,
        fallback: MODELS.sonnet,
        name: 'write minutes',
        system: MERGE,
        prompt: `- ${writeSeveral(random, GRAMMAR, 'note', 5, '\n- ')}`,
        completion: `## Decisions\n- ${writeSeveral(random, GRAMMAR, 'note', 3, '\n- ')}`,
        reasoningTokens: 800,
      });
      const tasks = random.integer(0, 3);
      for (let task = 0; task < tasks; task += 1) {
        recorder.http({
          method: 'POST',
          url: 'https://tasks.example.com/api/issues',
          ms: 180,
          request: { title: write(random, GRAMMAR, '{note}') },
          status: 201,
        });
      }
      root.output = { parts, tasks };
      return drawVerdict(recorder, [
        { outcome: 'minutes_sent', success: true, weight: 60 },
        { outcome: 'edited_by_owner', success: true, weight: 18 },
        { outcome: 'wrong_speaker', success: false, weight: 6 },
        { outcome: 'minutes_sent', weight: 16 },
      ]);
    },
  );
}

/** Turns recordings of meetings into minutes. */
export const meetingScribe: AgentProfile = {
  name: 'meeting-scribe',
  weight: 7,
  rhythm: 'office',
  sdkVersion: '0.3.9',
  metadata: { environment: 'production', team: 'workplace', region: 'eu-west-1' },
  run,
};
