import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ContractService, startFakeService, startRealService } from './services.ts';
import { createWorld, type World } from './world.ts';

let real: ContractService;
let fake: ContractService;

/** Starts both services for the scenarios of a file. */
export function startBothServices(): void {
  beforeAll(async () => {
    real = await startRealService();
    fake = await startFakeService();
    // Every answer, also of the fake service, is checked against the document of the real one.
    const response = await fetch(`${real.url}/livez`);
    expect(response.status).toBe(200);
    await createWorld(real).request(null, 'GET', '/v1/agents/me');
  });
  afterAll(() => Promise.all([real.stop(), fake.stop()]));
}

/** Runs a scenario against the real and the fake service, and compares status, body, errors and events. */
export function sameAnswers(name: string, scenario: (world: World) => Promise<void>): void {
  test(name, async () => {
    const worlds = [createWorld(real), createWorld(fake)] as const;
    for (const world of worlds) await scenario(world);
    expect(worlds[0].transcript.length).toBeGreaterThan(0);
    expect(worlds[1].transcript).toEqual(worlds[0].transcript);
  });
}
