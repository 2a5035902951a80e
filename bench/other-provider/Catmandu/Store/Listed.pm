package Catmandu::Store::Listed;
# Records in an array: the provider needs a store that understands CQL, and none is cheaper than this one.
use Catmandu::Sane;
use Moo;
with 'Catmandu::Store';

has size => (is => 'ro', default => sub { 10_000 });
has records => (is => 'lazy');

sub _build_records {
    my ($self) = @_;
    return [map { +{
        _id       => "sub_01957a3c-6e2f-7c41-9d3a-" . sprintf('%012x', $_),
        datestamp => '2026-01-01T00:00:00Z',
        title     => ["Thesis $_"],
        creator   => ['Ada Lovelace', 'Alan Turing'],
        date      => ['2024'],
    } } 1 .. $self->size];
}

package Catmandu::Store::Listed::Bag;
use Catmandu::Sane;
use Catmandu::Hits;
use Moo;
with 'Catmandu::Bag', 'Catmandu::CQLSearchable';

sub generator {
    my ($self) = @_;
    my $at = 0;
    return sub { $self->store->records->[$at++] };
}
sub get { my ($self, $id) = @_; (grep { $_->{_id} eq $id } @{ $self->store->records })[0] }
sub add { die 'read only' }
sub delete { die 'read only' }
sub delete_all { die 'read only' }
sub delete_by_query { die 'read only' }
sub searcher { die 'not needed' }
sub normalize_query { $_[1] }
sub translate_cql_query { $_[1] }
sub translate_sru_sortkeys { $_[1] }

sub search {
    my ($self, %args) = @_;
    my ($start, $limit) = ($args{start} // 0, $args{limit});
    my $all = $self->store->records;
    my $last = $start + $limit > @$all ? $#$all : $start + $limit - 1;
    return Catmandu::Hits->new(
        start => $start, limit => $limit, total => scalar @$all, hits => [@$all[$start .. $last]],
    );
}

1;
