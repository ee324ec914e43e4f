/** The bus topic that says whose feeds have grown. Every process listens to it, and passes by whom it does not serve. */
export const wakeupsTopic = 'rings';

/** How far the feed of an agent goes. */
export interface Wakeup {
  agent_id: string;
  last_number: number;
}

/** Where feeds end, by agent, as rings. */
export function toWakeups(heads: Readonly<Record<string, number>>): Wakeup[] {
  return Object.entries(heads).map(([agent_id, last_number]) => ({ agent_id, last_number }));
}

/** Rings in one message of the bus: about 4 KB. */
const maxPerMessage = 80;

/** Puts rings into as few messages as they fit in: `<agent> <number>,` each. A message to a thread of 200 rings for 200 agents. */
export function packWakeups(rings: readonly Wakeup[]): { topic: string; body: string }[] {
  const messages: { topic: string; body: string }[] = [];
  for (let at = 0; at < rings.length; at += maxPerMessage) {
    let body = '';
    for (const { agent_id, last_number } of rings.slice(at, at + maxPerMessage))
      body += `${agent_id} ${last_number},`;
    messages.push({ topic: wakeupsTopic, body });
  }
  return messages;
}

/** Calls `ring` for each ring of a message. What is none rings for nobody. */
export function forEachWakeup(body: string, ring: (agentId: string, number: number) => void): void {
  let at = 0;
  for (;;) {
    const space = body.indexOf(' ', at);
    const end = body.indexOf(',', space);
    if (space < 0 || end < 0) return;
    const number = Number(body.slice(space + 1, end));
    if (Number.isSafeInteger(number)) ring(body.slice(at, space), number);
    at = end + 1;
  }
}
