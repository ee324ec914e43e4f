/** The bus topic of wake-ups. Every process receives all of them and ignores agents without a stream here. */
export const wakeupsTopic = 'wakeups';

/** The last position in the feed of an agent. */
export interface Wakeup {
  agent_id: string;
  last_number: number;
}

/** The last positions by agent, as wake-ups. */
export function toWakeups(lastNumbers: Readonly<Record<string, number>>): Wakeup[] {
  return Object.entries(lastNumbers).map(([agent_id, last_number]) => ({ agent_id, last_number }));
}

/** Size of one bus message with wake-ups: about 4 KB. */
const maxPerMessage = 80;

/**
 * Packs wake-ups into as few bus messages as possible, each as `<agent> <number>,`. A message to a thread of 200 agents makes 200 wake-ups.
 */
export function packWakeups(wakeups: readonly Wakeup[]): { topic: string; body: string }[] {
  const messages: { topic: string; body: string }[] = [];
  for (let at = 0; at < wakeups.length; at += maxPerMessage) {
    let body = '';
    for (const { agent_id, last_number } of wakeups.slice(at, at + maxPerMessage))
      body += `${agent_id} ${last_number},`;
    messages.push({ topic: wakeupsTopic, body });
  }
  return messages;
}

/** Calls the callback for each wake-up of a bus message. Ignores invalid entries. */
export function forEachWakeup(body: string, onWakeup: (agentId: string, number: number) => void): void {
  let at = 0;
  for (;;) {
    const space = body.indexOf(' ', at);
    const end = body.indexOf(',', space);
    if (space < 0 || end < 0) return;
    const number = Number(body.slice(space + 1, end));
    if (Number.isSafeInteger(number)) onWakeup(body.slice(at, space), number);
    at = end + 1;
  }
}
