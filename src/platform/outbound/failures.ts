import { getErrorCode } from '../../shared/narrow.ts';
import { AddressBlocked } from './policy.ts';

/** One text for both: which internal names exist is not revealed. */
export const addressBlocked = 'the host name is unknown, or its address is not allowed';
export const describeTimeout = (ms: number): string => `no answer within ${ms / 1_000} s`;

const failures: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused: nothing listens on this port',
  ECONNRESET: 'the connection broke off',
  EPIPE: 'the connection broke off',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the host cannot be reached',
  ETIMEDOUT: 'the host does not answer',
  CERT_HAS_EXPIRED: 'TLS failed: the certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'TLS failed: the certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'TLS failed: the root certificate of the chain is not trusted',
  ERR_TLS_CERT_ALTNAME_INVALID: 'TLS failed: the certificate is for another host name',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'TLS failed: the issuer is not trusted, or the server does not send the intermediate certificates',
};

/** Why a request got no response. Fixed texts, because the system's own messages can reveal internal addresses. */
export function describeFailure(error: unknown): string {
  if (error instanceof AddressBlocked) return addressBlocked;
  const code = getErrorCode(error) ?? '';
  if (code.startsWith('HPE_')) return 'the answer is not HTTP';
  const known = failures[code];
  if (known !== undefined) return known;
  return isTlsFailure(error)
    ? 'TLS failed: the certificate is not trusted, or the server does not speak TLS'
    : 'no connection';
}

export function isTlsFailure(error: unknown): boolean {
  return /CERT|SSL|TLS|SELF_SIGNED|UNABLE_TO|EPROTO/.test(getErrorCode(error) ?? '');
}
