import { z } from 'zod';
import { agentRef } from './agent.ts';

/** How far the messages of a thread have come to one member. */
export const receiptSchema = z
  .object({
    agent: agentRef.describe('The member.'),
    delivered_up_to_sequence: z
      .int()
      .min(0)
      .describe('Every message up to this sequence counts as delivered to it; at least what it has read.'),
    read_up_to_sequence: z.int().min(0).describe('Every message up to this sequence is read by it.'),
  })
  .meta({ id: 'Receipt' })
  .describe('How far the messages of a thread have come to one member.');

export type ReceiptRecord = z.infer<typeof receiptSchema>;

export interface ReceiptColumns {
  id: string;
  canonical_handle: string;
  delivered_sequence: number;
  read_sequence: number;
}

export function presentReceipt(row: ReceiptColumns): ReceiptRecord {
  const { id, canonical_handle, delivered_sequence, read_sequence } = row;
  return {
    agent: { id, canonical_handle },
    delivered_up_to_sequence: delivered_sequence,
    read_up_to_sequence: read_sequence,
  };
}
