import { findFreePort } from './free-port.ts';
import { type ServiceOptions, startService } from './service.ts';

/** A service at the address that it announces, as people run it. Its core is for what must be there before anybody calls. */
export async function startServiceOnFixedPort(
  env: Record<string, string> = {},
  options: Omit<ServiceOptions, 'env'> = {},
) {
  const port = await findFreePort();
  const url = `http://localhost:${port}`;
  const service = await startService({ ...options, env: { PORT: String(port), PUBLIC_URL: url, ...env } });
  return { ...service, url, api: `${url}/v1` };
}
