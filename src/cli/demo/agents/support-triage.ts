import { write, writeSeveral, type Grammar } from '../grammar.js';
import { MODELS } from '../models.js';
import { drawVerdict, type AgentProfile } from '../profile.js';
import type { Recorder } from '../recorder.js';
import { REPLY_SPAN, replyLengthAt, replyPromptAt } from '../stories/reply-prompt.js';
import { VOCABULARY } from '../vocabulary.js';

const GRAMMAR = {
  ...VOCABULARY,
  ticket: [
    'Hi, I ordered the {product} on {month} {1-28} (order {order}) and {trouble}. {plea} {detail}\n\n{closing}\n{person}',
    'Hello team,\n\n{trouble_start} with my {product}: {trouble}. {detail} {plea}\n\n{closing}\n{first_name}',
    'Order {order}. {trouble_start}. {detail} {detail_more} {plea} {first_name}',
  ],
  trouble_start: [
    'I have had nothing but trouble',
    'Something is wrong',
    'This is the third time I write to you about a problem',
    'I am not happy',
    'There is an issue',
  ],
  trouble: [
    'it arrived with a cracked housing',
    'the tracking has said "in transit" for {4-19} days',
    'I was charged twice, {amount} each time',
    'the refund of {amount} you promised is still missing',
    'it stops working after about {5-50} minutes',
    'the box held the wrong colour and no manual',
    'the app no longer finds it since the last update',
    'the discount code was not applied',
  ],
  detail: [
    'I tried everything in the help centre, including the reset with the pin for {10-30} seconds.',
    'My bank shows both transactions as settled.',
    'The courier says that the parcel was handed to a neighbour, but nobody here has it.',
    'I attached photos of the damage and of the label.',
    'Your colleague {first_name} told me on {weekday} that it would be solved within {24-72} hours.',
    'It worked well for the first {2-9} weeks.',
  ],
  detail_more: [
    'I also own two older models and never saw anything like it.',
    'I need it for a trip to {city} next week.',
    'It was meant as a present.',
    'The warranty card says {month}, so it should be covered.',
  ],
  plea: [
    'Please send a replacement.',
    'Could you refund me?',
    'What happens now?',
    'I would like to speak to a person, not a bot.',
    'Please confirm that somebody looks into this.',
  ],
  closing: ['Thanks,', 'Kind regards,', 'Best,', 'Regards,'],
  answer: [
    'Hi {first_name},\n\nthank you for writing, and I am sorry for the trouble with your {product}. {remedy} {next_step}\n\n{signature}',
    'Dear {first_name},\n\nI looked into order {order} for you. {finding} {remedy} {next_step}\n\n{signature}',
  ],
  finding: [
    'The carrier lost sight of the parcel at the depot in {city}.',
    'I can see two captures of {amount} on {month} {1-28}; the second one was a mistake on our side.',
    'Your device still runs a firmware from {month}, which has a known fault.',
    'The return reached our warehouse on {weekday}.',
  ],
  remedy: [
    'A replacement leaves our warehouse tomorrow; you do not need to send anything back.',
    'I have refunded {amount} to your card; it usually shows up within {3-7} working days.',
    'I have prepared a return label, attached to this message.',
    'I have passed this on to our payments team with the details, so that you need not repeat them.',
  ],
  next_step: [
    'You will get a tracking link by e-mail as soon as it is on its way.',
    'If nothing changes until {weekday}, reply here and it lands on my desk directly.',
    'Is there anything else that I can do for you?',
  ],
  signature: ['Kind regards,\nYour support team', 'All the best,\nCustomer care'],
  article: [
    'Reset the device with the pin',
    'Refund times by payment method',
    'What to do when a parcel is lost',
    'Warranty: what is covered',
    'Double charges and pre-authorisations',
    'Update the firmware by cable',
    'Change or cancel an order',
  ],
} satisfies Grammar;

const CLASSIFY =
  'Classify the ticket. Answer with JSON: {"category": one of billing, delivery, defect, account, other; "urgency": 1..5; "sentiment": -1..1; "language": ISO 639-1}.';

/** One answer, or by a prompt that asks for length, an answer with more around it. */
function answer({ random, startMs }: Recorder): string {
  const parts = ['{answer}', '{finding} {detail} {remedy}', '{remedy} {next_step}'];
  return write(random, GRAMMAR, parts.slice(0, replyLengthAt(startMs)).join('\n\n'));
}

function run(recorder: Recorder) {
  const { random } = recorder;
  let ticket = write(random, GRAMMAR, '{ticket}');
  while (random.chance(0.2)) {
    ticket += `\n\n> ${write(random, GRAMMAR, '{answer}').replaceAll('\n', '\n> ')}\n> > ${write(random, GRAMMAR, '{ticket}').replaceAll('\n', '\n> > ')}`;
  }
  const ticketId = random.integer(100_000, 999_999);
  return recorder.agent(
    'support-triage',
    { ticket_id: ticketId, channel: random.pick(['email', 'chat', 'web']) },
    (root) => {
      recorder.database({
        system: 'postgresql',
        namespace: 'crm',
        name: 'SELECT customers',
        ms: 7,
        statement: 'SELECT id, tier, locale, lifetime_value FROM customers WHERE email = $1',
        output: { rows: 1 },
      });
      const category = random.pick(['billing', 'delivery', 'defect', 'account']);
      recorder.model({
        model: MODELS.haiku,
        name: 'classify',
        system: CLASSIFY,
        prompt: ticket,
        completion: JSON.stringify({
          category,
          urgency: random.integer(1, 5),
          sentiment: random.integer(-10, 3) / 10,
          language: 'en',
        }),
      });
      recorder.tool(
        'search_knowledge_base',
        { query: `${category} ${write(random, GRAMMAR, '{article}')}`, top_k: 4 },
        () => {
          recorder.http({
            method: 'POST',
            url: 'https://vectors.internal.example.com/v1/query',
            ms: 45,
            request: { index: 'help-articles' },
          });
          return { articles: writeSeveral(random, GRAMMAR, 'article', 3, '; ') };
        },
      );
      if (category !== 'account' && random.chance(0.7)) {
        recorder.tool('get_order', { order: write(random, GRAMMAR, '{order}') }, () => {
          recorder.http({
            method: 'GET',
            url: `https://orders.internal.example.com/v2/orders/${random.integer(1, 90_000)}`,
            ms: 60,
          });
          return {
            state: random.pick(['delivered', 'in_transit', 'returned']),
            total: write(random, GRAMMAR, '{amount}'),
          };
        });
      }
      recorder.model({
        model: MODELS.sonnet,
        fallback: MODELS.gpt41,
        name: REPLY_SPAN,
        system: replyPromptAt(recorder.startMs),
        prompt: ticket,
        completion: answer(recorder),
        contextTokens: 1800,
      });
      const verdict = drawVerdict(recorder, [
        { outcome: 'resolved', success: true, weight: 66 },
        { outcome: 'escalated_to_human', success: false, weight: 14 },
        { outcome: 'waiting_for_customer', weight: 14 },
        { outcome: 'wrong_answer', success: false, weight: 3 },
      ]);
      const path = verdict.outcome === 'escalated_to_human' ? 'assign' : 'replies';
      recorder.http({
        method: 'POST',
        url: `https://tickets.example.com/api/v2/tickets/${ticketId}/${path}`,
        ms: 140,
        status: 201,
      });
      root.output = { category, outcome: verdict.outcome };
      return verdict;
    },
  );
}

/** Answers customers' tickets, or hands them over. */
export const supportTriage: AgentProfile = {
  name: 'support-triage',
  weight: 24,
  rhythm: 'office',
  sdkVersion: '0.4.1',
  metadata: { environment: 'production', team: 'customer-care', region: 'eu-west-1' },
  run,
};
