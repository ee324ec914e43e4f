import type { Random } from '../random.ts';

/** Every kind of fault with its minimum and maximum duration, in milliseconds. */
export const faultKinds = {
  'API killed': [100, 1_500],
  'API stopped': [100, 1_000],
  'API frozen': [1_000, 4_000],
  'worker killed': [100, 1_500],
  'worker stopped': [100, 1_000],
  'worker frozen': [1_000, 4_000],
  'sockets cut': [0, 0],
  'Redis flushed': [0, 0],
  'Redis restarted': [100, 1_500],
  'PostgreSQL restarted': [0, 1_000],
} as const satisfies Record<string, readonly [number, number]>;

export type FaultKind = keyof typeof faultKinds;

export interface PlannedFault {
  kind: FaultKind;
  /** How long the part is unavailable, in milliseconds. */
  durationMs: number;
}

export interface Step {
  /** One fault, or two that start together. */
  faults: readonly PlannedFault[];
  /** Time without faults afterwards, in milliseconds. */
  calmMs: number;
}

const needsRedis: ReadonlySet<FaultKind> = new Set(['Redis flushed', 'Redis restarted']);

export interface PlanOptions {
  /** Whether the service uses Redis. */
  redis: boolean;
  /** Maximum time without a new fault, in milliseconds. */
  calmMs: number;
}

/**
 * An endless sequence of faults. Each round has every kind once in a new order, so that a short run covers most kinds too.
 * Sometimes two faults start together.
 */
export function* planFaults(random: Random, options: PlanOptions): Generator<Step, never> {
  const kinds = (Object.keys(faultKinds) as FaultKind[]).filter(
    (kind) => options.redis || !needsRedis.has(kind),
  );
  const plan = (kind: FaultKind): PlannedFault => {
    const [minMs, maxMs] = faultKinds[kind];
    return { kind, durationMs: minMs + random.below(maxMs - minMs + 1) };
  };
  for (;;) {
    const round = random.sample(kinds, kinds.length);
    while (round.length > 0) {
      const together = random.chance(0.25) ? 2 : 1;
      yield { faults: round.splice(0, together).map(plan), calmMs: random.below(options.calmMs) };
    }
  }
}
