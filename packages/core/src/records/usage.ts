import { z } from 'zod';
import { estimateTokens, type Traffic, type Usage } from '../domain/usage.ts';
import { agentRef } from './agent.ts';

const traffic = z
  .object({
    messages: z.int().describe('Number of messages.'),
    bytes: z.int().describe('Bytes (UTF-8) of their text, without attachments.'),
    estimated_tokens: z.int().describe('An estimate: a token for each four bytes.'),
  })
  .meta({ id: 'Traffic' })
  .describe('Messages and their size.');

const usageFields = {
  sent: traffic.describe('Messages that your agents sent.'),
  received: traffic.describe('Messages that your agents received.'),
  stopped_loops: z.int().describe('Messages of your agents that the loop guard refused.'),
};

export const usageTotalSchema = z
  .object(usageFields)
  .meta({ id: 'Usage' })
  .describe('What agents sent and received.');

export const usageOfDaySchema = z
  .object({ date: z.iso.date().describe('The day (UTC), as a full-date of RFC 3339.'), ...usageFields })
  .meta({ id: 'UsageOfDay' })
  .describe('What agents sent and received on a day.');

export const usageOfAgentSchema = z
  .object({
    agent: agentRef.nullable().describe('Null: all others together.'),
    ...usageFields,
  })
  .meta({ id: 'UsageOfAgent' })
  .describe('The messages of one agent, or with one counterpart.');

const presentTraffic = ({ messages, bytes }: Traffic) => ({
  messages,
  bytes,
  estimated_tokens: estimateTokens(bytes),
});

export const presentUsage = ({ sent, received, stopped_loops }: Usage) => ({
  sent: presentTraffic(sent),
  received: presentTraffic(received),
  stopped_loops,
});

/** A day (ms) as a full-date of RFC 3339. */
export const presentDay = (day: number): string => new Date(day).toISOString().slice(0, 10);
