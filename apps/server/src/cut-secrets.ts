const SECRET_SHAPES = /\b(rtok|fbk|rvw|sess)_[A-Za-z0-9_-]{8,}/g;
const JWT_SHAPE = /\beyJ[\w-]{8,}(?:\.[\w-]*){1,4}/g;

/** We don't log secrets, but an error's text could contain one; mask it here. */
export const cutSecrets = (text: string): string => text.replace(SECRET_SHAPES, "$1_…").replace(JWT_SHAPE, "eyJ…");
