import { isIP } from 'node:net';
import { z } from 'zod';
import { parseRedisAddress } from './platform/redis/address.ts';
import { describeError } from './shared/error-log.ts';

// The types of settings: how the text of a variable is checked and parsed.

export function wholeNumber(min: number, max: number) {
  const error = `must be a whole number from ${min} to ${max}`;
  const digits = z.string().regex(/^\s*\d+\s*$/, error);
  return digits.transform(Number).pipe(z.number().min(min, error).max(max, error));
}

export const port = wholeNumber(0, 65_535);
export const flag = z.stringbool({ error: 'must be true or false' });

export function oneOf<const Values extends readonly [string, ...string[]]>(...values: Values) {
  return z.enum(values, { error: `must be one of ${values.join(', ')}` });
}

/** Their addresses can name a socket in place of a host. */
const socketProtocols = new Set(['postgres:', 'postgresql:', 'unix:']);

export const url = (...protocols: string[]) =>
  z.string().refine(
    (value) => {
      if (!URL.canParse(value)) return false;
      const { protocol, hostname, port: number } = new URL(value);
      const hasHost = hostname !== '' || socketProtocols.has(protocol);
      return protocols.includes(protocol) && value.includes('://') && hasHost && number !== '0';
    },
    {
      error: `must be an address that starts with ${protocols.map((protocol) => `${protocol}//`).join(' or ')} and names a host`,
      abort: true,
    },
  );

export const postgresUrl = url('postgres:', 'postgresql:');
export const postgresUrls = z
  .string()
  .default('')
  .transform((value) => value.split(',').flatMap((item) => item.trim() || []))
  .pipe(z.array(postgresUrl));

export const mediaTypeList = z
  .string()
  .transform((value) => value.split(',').map((type) => type.trim().toLowerCase()))
  .pipe(
    z.array(
      z.string().regex(/^[^\s/;*]+\/[^\s/;*]+$/, 'must be media types, such as application/pdf,image/png'),
    ),
  );

/** An OpenID Connect issuer: https, or http on this machine; without query and fragment (Discovery, section 3). */
export const issuer = url('https:', 'http:').refine((value) => {
  const { protocol, hostname, search, hash } = new URL(value);
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
  return (protocol === 'https:' || isLocal) && search === '' && hash === '';
}, 'must be an https address without query and fragment (http only on this machine)');

/** IP networks (RFC 4632) such as `10.1.0.0/16` and `fd00::/8`, or single addresses. */
export const networks = z
  .string()
  .default('')
  .transform((value, context) =>
    value.split(',').flatMap((item) => {
      const [address = '', length, ...rest] = item.trim().split('/');
      if (item.trim() === '') return [];
      const bits = isIP(address) === 4 ? 32 : 128;
      const prefix = length === undefined ? bits : Number(length);
      const isValid =
        isIP(address) > 0 &&
        !address.includes('%') &&
        /^\d{1,3}$/.test(length ?? '0') &&
        prefix <= bits &&
        rest.length === 0;
      if (isValid) return [{ address, prefix }];
      const message = 'must be address ranges separated by commas, such as 10.1.0.0/16,fd00::/8';
      context.issues.push({ code: 'custom', input: value, message });
      return [];
    }),
  );

/** An address, with or without a name: `ams@example.com`, `Agent Messaging <ams@example.com>`. */
export const mailSender = z
  .string()
  .refine(
    (value) => z.email().safeParse(/^[^<>\r\n]+<([^<>]+)>$/.exec(value)?.[1] ?? value).success,
    'must be an e-mail address, or a name and an address: Agent Messaging <ams@example.com>',
  );

/** Where a process listens. */
export const listenHost = z
  .string()
  .refine(
    (value) => isIP(value) > 0 || /^[a-z\d](?:[\w.-]*[a-z\d])?$/i.test(value),
    'must be an address or a host name of this machine, without port, such as 127.0.0.1',
  );

/** Host names or addresses, each with or without a port. */
export const hosts = z
  .string()
  .default('')
  .transform((value) => value.split(',').flatMap((host) => host.trim() || []))
  .refine(
    (names) => names.every((name) => /^[^\s*/@?#]+$/.test(name) && URL.canParse(`http://${name}`)),
    'must be host names separated by commas, such as ams.example.com,localhost:8080',
  );

/** A single server, Sentinel or Cluster. */
export const redisUrl = z.string().transform((value, context) => {
  try {
    parseRedisAddress(value);
  } catch (error) {
    context.issues.push({ code: 'custom', input: value, message: describeError(error) });
  }
  return value;
});
